"""What the documents say is what the code has."""

from pathlib import Path
import re
import runpy

from gemma_node.policy.settings import from_mapping
from gemma_node.replay.plan import read_parameters
from gemma_node.tools.catalogue import load_catalogue

ROOT = Path(__file__).resolve().parents[2]


def test_parameter_page_is_the_table_the_node_declares():
    names = runpy.run_path(str(ROOT / 'scripts' / 'parameter_docs.py'))
    page = (ROOT / 'docs' / 'parameters.md').read_text(encoding='utf-8')
    assert page == names['document'](), 'run scripts/parameter_docs.py'


def test_every_file_that_the_readme_names_exists():
    text = (ROOT / 'README.md').read_text(encoding='utf-8')
    folders = '(?:config|docs|scripts|benchmarks|gemma_node)'
    named = set(re.findall(rf'`({folders}/[\w./-]+\.\w+)`', text))
    assert len(named) > 5
    assert not {name for name in named if not (ROOT / name).exists()}


def test_readme_has_no_placeholder_left():
    assert not re.findall(r'@[A-Z_]+@', (ROOT / 'README.md').read_text(encoding='utf-8'))


def test_the_yaml_of_the_readme_loads(tmp_path):
    text = (ROOT / 'README.md').read_text(encoding='utf-8')
    parameters, tools = re.findall(r'```yaml\n(.*?)```', text, re.DOTALL)
    (tmp_path / 'parameters.yaml').write_text(parameters)
    (tmp_path / 'tools.yaml').write_text(tools)
    settings = from_mapping(read_parameters(tmp_path / 'parameters.yaml'))
    catalogue = load_catalogue(tmp_path / 'tools.yaml')
    assert [robot.name for robot in settings.robots] == ['r1']
    assert catalogue.tools[0].name == 'go_to'


def test_tools_page_is_the_schema_that_files_are_checked_with():
    names = runpy.run_path(str(ROOT / 'scripts' / 'tools_docs.py'))
    page = (ROOT / 'docs' / 'tools.md').read_text(encoding='utf-8')
    assert page == names['document'](), 'run scripts/tools_docs.py'
