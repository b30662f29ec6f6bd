import manifest from '../../package.json' with { type: 'json' }
import { type Command, EXIT, parseFlags } from './command.ts'

export const VERSION: string = manifest.version

export const versionCommand: Command = {
  summary: 'Print the version',
  usage: 'usage: svc version\n\nPrints the version of this executable.',
  run(args, io) {
    parseFlags({ args, options: {} })
    io.stdout.write(`svc ${VERSION}\n`)
    return EXIT.ok
  },
}
