"""The import table of the architecture, over direct imports; and what no file may do."""

import ast
from pathlib import Path
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'gemma_node'
GENERATED = ('msg', 'srv', 'action')

ROS = {
    'action_msgs', 'ament_index_python', 'bond', 'bondpy', 'builtin_interfaces',
    'diagnostic_msgs', 'diagnostic_updater', 'gemma_node.action', 'gemma_node.msg',
    'gemma_node.srv', 'geometry_msgs', 'lifecycle_msgs', 'nav2_msgs', 'nav_msgs',
    'rcl_interfaces', 'rclpy', 'rosgraph_msgs', 'rosidl_runtime_py', 'sensor_msgs', 'std_msgs',
    'std_srvs', 'tf2_msgs', 'tf2_ros', 'trajectory_msgs', 'unique_identifier_msgs',
    'vision_msgs', 'visualization_msgs',
}  # fmt: skip
# cli only tries whether rclpy is there, to say what to install.
MAY_ROS = ('ros', 'demo', 'cli')
MAY_TORCH = ('engine', 'backends', 'bench', 'model', 'quant', 'receipts', 'kernels')
TORCHLESS = ('engine.sequence', 'engine.scheduler', 'engine.config')
MAY_TRITON = ('kernels',)

LEAVES = ('core', 'errors')
# What a process without tokenizer and model may use.
OUTSIDE = (
    *LEAVES, 'ros_env', 'policy', 'worker.client', 'worker.frames', 'worker.questions',
    'tools.catalogue', 'tools.draft', 'tools.overlay', 'tools.interface_schema', 'tools.keep',
    'tools.spec', 'tools.stream', 'tools.yaml_reader', 'text.render', 'text.render_template',
)  # fmt: skip
# part -> the parts that it may import besides itself; the longest key that fits a module counts.
MAY_IMPORT = {
    'core': (),
    # Nothing that takes a while to import: it begins before that.
    'ahead': (),
    'errors': ('core',),
    'ros_env': (),
    'policy': (*LEAVES, 'tools.catalogue', 'tools.overlay', 'tools.spec'),
    'tools': LEAVES,
    'text': LEAVES,
    # frames: the decider says progress as the frame that is sent.
    'decision': (*LEAVES, 'tools', 'text', 'worker.frames', 'worker.questions'),
    'kernels': LEAVES,
    'quant': (*LEAVES, 'kernels'),
    # The converter reads checkpoints as the model's loader does.
    'quant.convert': (*LEAVES, 'model'),
    'quant.plan': (*LEAVES, 'model'),
    'model': (*LEAVES, 'kernels', 'quant'),
    'backends': (*LEAVES, 'ahead', 'model', 'kernels', 'quant'),
    'engine': (*LEAVES, 'backends', 'model', 'kernels', 'quant'),
    # text.tokenizer: the forced tokens are of texts.
    'receipts': (*LEAVES, 'engine', 'backends', 'model', 'kernels', 'quant', 'text.tokenizer'),
    'bench': (*LEAVES, 'engine', 'backends', 'model', 'kernels', 'quant'),
    'assemble': (*LEAVES, 'ahead', 'decision', 'engine', 'backends', 'model', 'tools', 'text'),
    # Cases reach the model as requests reach it in the worker.
    'evaluation': (*LEAVES, 'assemble', 'decision', 'policy.settings', 'tools', 'text'),
    'worker': (*LEAVES, 'ros_env'),
    'worker.loop': (*LEAVES, 'ahead', 'assemble', 'decision'),
    'worker.__main__': (*LEAVES, 'assemble', 'ros_env'),
    'ros': OUTSIDE,
    'replay': OUTSIDE,
    'demo': OUTSIDE,
    # The commands (cli.py, cli_*.py) start everything else; nothing starts them.
    'cli': (
        # check shows a prompt and a grammar as the worker would make them.
        *OUTSIDE, 'decision.prompt', 'text', 'tools', 'demo', 'evaluation',
        'bench', 'receipts', 'replay', 'ros',
        'quant.convert',
        # inspect judges config and files of a checkpoint as the worker would, without torch.
        'model.config', 'model.files', 'model.footprint', 'model.header', 'model.inventory',
    ),
}


def python_files() -> list[Path]:
    return [
        path
        for path in sorted(PACKAGE.rglob('*.py'))
        if path.relative_to(PACKAGE).parts[0] not in GENERATED
    ]


def module_name(path: Path) -> str:
    """Return the dotted name below gemma_node: '' for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def imports(tree: ast.AST) -> list[str]:
    """Return every module that the code imports, at the top or in a function."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = '.' * node.level + (node.module or '')
            # `from gemma_node import core` imports gemma_node.core.
            found += [f'{module}.{alias.name}' for alias in node.names] if module in (
                'gemma_node', '.', '..') else [module]
    return found


def within(name: str, parts: tuple[str, ...] | set[str]) -> bool:
    return any(name == part or name.startswith(f'{part}.') for part in parts)


def part_of(module: str) -> str:
    """Return the folder of a module, or the file at the top; cli_*.py belong to cli."""
    folder = module.partition('.')[0]
    return 'cli' if folder.startswith('cli_') else folder


def own_rule(module: str) -> str:
    """Return the longest key of the table that covers a module."""
    keys = [key for key in MAY_IMPORT if key == part_of(module) or within(module, (key,))]
    return max(keys, key=len, default='')


def violations(module: str, tree: ast.AST) -> list[str]:
    """Return one sentence for each import that the table does not allow."""
    found = []
    folder = part_of(module)
    for name in imports(tree):
        allowed = True
        if name.startswith('.'):
            found.append(f'{module} imports {name}: relative imports hide the layer')
            continue
        if within(name, ROS):
            allowed = folder in MAY_ROS
        elif within(name, {'torch'}):
            allowed = folder in MAY_TORCH and not within(module, TORCHLESS)
        elif within(name, {'triton'}):
            allowed = folder in MAY_TRITON
        elif name.startswith('gemma_node.') and name != 'gemma_node.__version__':
            target = name.removeprefix('gemma_node.')
            rule = own_rule(module)
            same = part_of(target) == folder
            allowed = bool(rule) and (same or within(target, MAY_IMPORT[rule]))
        if not allowed:
            found.append(f'{module} imports {name}')
    return found


def test_every_import_obeys_the_table():
    found = []
    for path in python_files():
        tree = ast.parse(path.read_text(encoding='utf-8'))
        found += violations(module_name(path), tree)
    assert found == []


@pytest.mark.parametrize(
    ('module', 'line'),
    [
        ('decision.decider', 'from gemma_node.engine.engine import Engine'),
        ('engine.engine', 'from gemma_node.decision import prompt'),
        ('engine.scheduler', 'import torch'),
        ('policy.gate', 'from rclpy.node import Node'),
        ('policy.gate', 'from gemma_node.msg import Decision'),
        ('ros.node', 'import torch.nn'),
        ('ros.node', 'from gemma_node import assemble'),
        ('ros.node', 'def f():\n    from gemma_node.engine import engine'),
        ('replay.bags', 'from gemma_node.ros import conversions'),
        ('model.gemma4', 'import triton'),
        ('core', 'from gemma_node.errors import GemmaNodeError'),
        ('text.render', 'from . import tokenizer'),
        ('worker.client', 'from gemma_node.assemble import assemble'),
        ('brand_new', 'from gemma_node import core'),
    ],
)
def test_a_planted_violation_is_found(module, line):
    assert len(violations(module, ast.parse(line))) == 1


def test_allowed_imports_are_not_reported():
    allowed = ast.parse('import torch\nfrom gemma_node.backends import cpu\nimport json')
    assert violations('engine.runner', allowed) == []
    assert violations('ros.node', ast.parse('from gemma_node.msg import Decision')) == []
    assert violations('worker.loop', ast.parse('from gemma_node import assemble')) == []


def test_core_and_errors_import_the_standard_library_only():
    for name in LEAVES:
        tree = ast.parse((PACKAGE / f'{name}.py').read_text(encoding='utf-8'))
        roots = {module.partition('.')[0] for module in imports(tree)}
        assert roots - {'gemma_node'} <= sys.stdlib_module_names
