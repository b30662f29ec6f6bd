/** What `svc help` says: the list of commands, and each with its whole text. */
export type CommandHelp = { list: string; commands: readonly { name: string; text: string }[] }

let load = async (): Promise<CommandHelp> => ({ list: '', commands: [] })

/** The commands stand above the modules, so the program says here what their texts are. */
export function provideCommandHelp(provide: () => Promise<CommandHelp>): void {
  load = provide
}

/** The document `cli`. */
export async function commandDocument(): Promise<string> {
  const { list, commands } = await load()
  const parts = commands.map(({ name, text }) => `## svc ${name}\n\n${fenced(text)}`)
  return [`# The command line\n\n${fenced(list)}`, ...parts].join('\n')
}

const fenced = (text: string): string => `~~~~text\n${text.trimEnd()}\n~~~~\n`
