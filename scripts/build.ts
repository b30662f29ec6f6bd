import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Builds the executable: `npm run build -- [--target bun-linux-arm64] [--outfile dist/svc]`. A release gives it its version
 * and public key too, which src/release-info.ts reads.
 */
const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    target: { type: 'string' },
    outfile: { type: 'string', default: 'dist/svc' },
    version: { type: 'string' },
    'public-key': { type: 'string' },
  },
})
const outfile = resolve(root, values.outfile)
const define = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : ['--define', `${name}=${JSON.stringify(value)}`]
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
    ...define('SVC_VERSION', values.version),
    ...define('SVC_PUBLIC_KEY', values['public-key']),
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
