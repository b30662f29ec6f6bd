import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** Builds the executable: `npm run build -- [--target bun-linux-arm64] [--outfile dist/svc]`. */
const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: { target: { type: 'string' }, outfile: { type: 'string', default: 'dist/svc' } },
})
const outfile = join(root, values.outfile)
const built = Bun.spawnSync(
  [
    process.execPath,
    'build',
    '--compile',
    // Names stay, so that a stack in the log can be read without maps beside the executable.
    '--minify-syntax',
    '--minify-whitespace',
    '--bytecode',
    '--splitting',
    '--format=esm',
    // What lies in the folder where somebody runs it (a clone, a shared /tmp) must not run code or set variables in it.
    '--no-compile-autoload-bunfig',
    '--no-compile-autoload-dotenv',
    // A request head of 64 KiB, so that the cookies of sibling sites do not lock people out so soon.
    '--compile-exec-argv=--max-http-header-size=65536',
    ...(values.target === undefined ? [] : [`--target=${values.target}`]),
    'src/main.ts',
    '--outfile',
    outfile,
  ],
  { cwd: root, stdout: 'pipe', stderr: 'inherit' },
)
if (built.exitCode !== 0) {
  console.error(built.stdout.toString())
  process.exit(1)
}
const file = statSync(outfile, { throwIfNoEntry: false }) ?? statSync(`${outfile}.exe`)
console.error(`built ${values.outfile} (${Math.round(file.size / 1e6)} MB)`)
