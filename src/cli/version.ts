import { PUBLIC_KEY, VERSION } from '../release-info.ts'
import { type Command, EXIT, parseFlags, printableJson } from './command.ts'

export const versionCommand: Command = {
  summary: 'Print the version',
  usage: `usage: svc version [--json]

Prints the version of this executable. --json: an object with "version" and "publicKey", the base64 of the Ed25519 key that
its release was signed with; null in what is no release.`,
  run(args, io) {
    const { values } = parseFlags({ args, options: { json: { type: 'boolean', default: false } } })
    const text = values.json ? printableJson({ version: VERSION, publicKey: PUBLIC_KEY }) : `svc ${VERSION}`
    io.stdout.write(`${text}\n`)
    return EXIT.ok
  },
}
