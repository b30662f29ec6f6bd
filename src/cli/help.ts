import type { CommandHelp } from '../modules/docs/command-help.ts'
import { type Command, type Commands, EXIT, parseFlags, UsageError } from './command.ts'

/** `svc help`. Takes a function, because the table of commands includes this one and is complete only later. */
export function helpCommand(commands: () => Commands): Command {
  return {
    summary: 'List the commands, or explain one',
    usage: 'usage: svc help [COMMAND [VERB]]\n\nLists the commands, or explains COMMAND and its flags.',
    async run(args, io) {
      const { positionals } = parseFlags({ args, options: {}, allowPositionals: true })
      io.stdout.write(`${(await helpText(commands(), positionals)).trimEnd()}\n`)
      return EXIT.ok
    },
  }
}

/** All texts at once, for the document `cli`. */
export async function allHelp(commands: Commands): Promise<CommandHelp> {
  const texts = Object.entries(commands).map(async ([name, load]) => ({ name, text: (await load()).usage }))
  return { list: await commandList(commands), commands: await Promise.all(texts) }
}

async function helpText(commands: Commands, positionals: readonly string[]): Promise<string> {
  const [name, verb, extra] = positionals
  if (extra !== undefined) throw new UsageError('svc help explains one command at a time')
  if (name === undefined) return commandList(commands)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(`there is no command "${name}"; svc help lists them`)
  const { usage, verbs = [] } = await command()
  if (verb !== undefined && !verbs.includes(verb))
    throw new UsageError(`there is no command "${name} ${verb}"`)
  return usage
}

async function commandList(commands: Commands): Promise<string> {
  const names = Object.keys(commands)
  const width = Math.max(...names.map((name) => name.length))
  const lines = await Promise.all(
    Object.entries(commands).map(
      async ([name, load]) => `  ${name.padEnd(width)}  ${(await load()).summary}`,
    ),
  )
  return ['usage: svc [COMMAND] [FLAGS]', '', ...lines, '', 'svc help COMMAND explains one of them.'].join(
    '\n',
  )
}
