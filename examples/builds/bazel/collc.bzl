"""Emitted CSL in a Bazel build: `collc_collective` makes a folder of it from a `.coll` file.

collc is looked for on PATH (`--action_env=PATH`) and is no input of its own. An action environment
with its version in it has files made again by another one: `--action_env=COLLC="$(collc --version)"`.
"""

def _collc_collective(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add("build", ctx.file.src)
    arguments.add("--target", ctx.attr.arch)
    arguments.add("--name", ctx.label.name)
    for name, value in ctx.attr.params.items():
        arguments.add("-D", "%s=%s" % (name, value))
    arguments.add("-o", folder.path)
    ctx.actions.run(
        executable = ctx.attr.collc,
        arguments = [arguments],
        inputs = [ctx.file.src] + ctx.files.imports,
        outputs = [folder],
        mnemonic = "Collc",
        progress_message = "collc %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([folder]))]

collc_collective = rule(
    implementation = _collc_collective,
    attrs = {
        "src": attr.label(allow_single_file = [".coll"], mandatory = True),
        "imports": attr.label_list(allow_files = [".coll"], doc = "What src imports."),
        "params": attr.string_dict(doc = "Parameters of the file."),
        "arch": attr.string(default = "wse2", values = ["wse2", "wse3"]),
        "collc": attr.string(default = "collc", doc = "The command, on PATH."),
    },
)
