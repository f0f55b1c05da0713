"""What the documents say is what the code has."""

from pathlib import Path
import re
import runpy

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
