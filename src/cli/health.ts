import { type Command, CommandFailure, EXIT, printable, UsageError } from './command.ts'
import { askHealth, ownAddress } from './own-health.ts'
import { settingsOf } from './settings.ts'

const USAGE = `usage: svc health [--host ADDRESS] [--port PORT]

Asks the server that runs here whether it is well, for container and service supervisors.
The address is that of svc serve: HOST and PORT, or the flags. With TLS on it is HTTP_PORT in place
of PORT; with HTTP_PORT=off it is PORT, whatever certificate is there.
Exit code: 0 well, 1 not well or no answer.`

export const healthCommand: Command = {
  summary: 'Ask the running server whether it is well',
  usage: USAGE,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc health takes flags only, not "${words[0]}"`)
    const address = ownAddress(config)
    const answer = await askHealth(address)
    if (!answer.isWell) throw new CommandFailure(`${address} is not well: ${printable(answer.text)}`)
    io.stdout.write(`${address} is well\n`)
    return EXIT.ok
  },
}
