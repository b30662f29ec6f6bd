import {
  type Command,
  CommandFailure,
  EXIT,
  parseFlags,
  printable,
  printableJson,
  UsageError,
} from './command.ts'
import { REMOTE_HELP, REMOTE_OPTIONS, remoteProject } from './remote/project.ts'
import { isWebAddress, requireTarget, resolveTarget, TARGET_HELP } from './remote/target.ts'

const USAGE = `usage: svc open [TARGET] [--print] [FLAGS]

Opens the address of TARGET, production without one, in a browser.
${TARGET_HELP}

  --print               print the address, and open nothing
${REMOTE_HELP}`

export const openCommand: Command = {
  summary: 'Open a site in a browser',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: { ...REMOTE_OPTIONS, print: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [target = 'production', extra] = positionals
    if (extra !== undefined) throw new UsageError(`one TARGET at a time, so not "${extra}" too`)
    requireTarget(target)
    const { url } = await resolveTarget(await remoteProject(values, io), target)
    if (!isWebAddress(url))
      throw new CommandFailure(`the server names "${url}", which is no address of a site`)
    io.stdout.write(values.json ? `${printableJson({ url }, 2)}\n` : `${printable(url)}\n`)
    if (!values.print && !(await io.openUrl(url)))
      io.stderr.write('no browser could be opened here: open the address yourself\n')
    return EXIT.ok
  },
}
