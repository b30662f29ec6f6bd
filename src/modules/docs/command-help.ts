/** What `svc help` says: the list of commands, and each with its whole text. */
export type CommandHelp = { list: string; commands: readonly { name: string; text: string }[] }

type Provider = () => Promise<CommandHelp>

let load: Provider = async () => ({ list: '', commands: [] })

/** The commands stand above the modules, so the program says here what their texts are. */
export function provideCommandHelp(provide: Provider): void {
  load = provide
}

export const commandHelp = (): Provider => load

/** The document `cli`. */
export async function commandDocument(provide: Provider): Promise<string> {
  const { list, commands } = await provide()
  const parts = commands.map(({ name, text }) => `## svc ${name}\n\n${fenced(text)}`)
  return [`# The command line\n\n${fenced(list)}`, ...parts].join('\n')
}

const fenced = (text: string): string => `~~~~text\n${text.trimEnd()}\n~~~~\n`
