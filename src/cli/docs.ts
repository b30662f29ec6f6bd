import {
  documentHref,
  documentNames,
  findDocumentFile,
  getDocument,
  listDocuments,
  searchDocuments,
} from '../modules/docs/service.ts'
import { type Command, EXIT, parseFlags, UsageError } from './command.ts'

const USAGE = `usage: svc docs [PAGE] [--search WORDS]

Prints a document of this version, or the list of them. The server shows the same at /docs.

  --search WORDS        the paragraphs that have every word, of PAGE or of all documents`

export const docsCommand: Command = {
  summary: 'Read the documents, or search them',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: { search: { type: 'string' } },
      allowPositionals: true,
    })
    const [page, extra] = positionals
    if (extra !== undefined) throw new UsageError('svc docs prints one document; --search "WORDS" searches')
    const file = page === undefined ? undefined : findDocumentFile(page)
    if (file !== undefined && values.search === undefined) {
      await io.stdout.put(await Bun.file(file).bytes())
      return EXIT.ok
    }
    if (page !== undefined && !documentNames.includes(page))
      throw new UsageError(`there is no document "${page}"; svc docs lists them`)
    io.stdout.write(`${(await textFor(page, values.search)).trimEnd()}\n`)
    return EXIT.ok
  },
}

async function textFor(page: string | undefined, query: string | undefined): Promise<string> {
  if (query !== undefined) return foundText(query, page)
  return page === undefined ? listText() : (await getDocument(page)).source
}

async function listText(): Promise<string> {
  const width = Math.max(...documentNames.map((name) => name.length))
  const lines = (await listDocuments()).map(({ name, title }) => `  ${name.padEnd(width)}  ${title.label}`)
  return [...lines, '', 'svc docs PAGE prints one of them.'].join('\n')
}

async function foundText(query: string, page: string | undefined): Promise<string> {
  const found = await searchDocuments(query, page)
  if (found.length === 0) return 'Nothing found.'
  return found
    .map(({ page: name, id, heading, excerpt }) => `${documentHref(name, id)}\n  ${heading}\n  ${excerpt}`)
    .join('\n\n')
}
