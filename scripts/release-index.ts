import { resolve } from 'node:path'
import { CommandFailure, EXIT, parseFlags, UsageError } from '../src/cli/command.ts'
import { writeIndex } from './release/index-of.ts'

const USAGE = `usage: npm run release:index -- ROOT

Writes ROOT/index.json from each ROOT/<version>/release.json. The index is not signed, the releases are.`

process.exitCode = main(Bun.argv.slice(2))

function main(args: string[]): number {
  try {
    const { positionals } = parseFlags({ args, options: {}, allowPositionals: true })
    const [root, extra] = positionals
    if (root === undefined || extra !== undefined) throw new UsageError('give one folder as ROOT')
    const { latest, releases } = writeIndex(resolve(root))
    console.error(`${releases.length} releases, the latest ${latest ?? 'of them a pre-release'}`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    console.error(`release:index: ${error.message}${error instanceof UsageError ? `\n${USAGE}` : ''}`)
    return error.exitCode
  }
}
