import { DOCUMENTS, FILES } from '../../../docs/manifest.ts'
import { AppError } from '../../domain/errors.ts'
import { commandDocument } from './command-help.ts'
import { type Heading, type RenderedDocument, renderDocument } from './render.ts'
import { type Found, type Searched, search } from './search.ts'

export type { Found } from './search.ts'

export type Document = RenderedDocument & {
  name: string
  /** As it was written, in Markdown. */
  source: string
}

/** Made of the texts of `svc help`, so it has no file. */
const COMMANDS = 'cli'
const AFTER = 'operating'

/** In the order of the list. */
export const documentNames: readonly string[] = Object.keys(DOCUMENTS).flatMap((name) =>
  name === AFTER ? [name, COMMANDS] : [name],
)

export async function getDocument(name: string): Promise<Document> {
  if (!documentNames.includes(name))
    throw new AppError('not_found', 'There is no such document; /docs lists them')
  return rendered(name)
}

export const listDocuments = (): Promise<Document[]> => Promise.all(documentNames.map(rendered))

/** The headings that "On this page" lists. */
export const contentsOf = ({ sections }: Document): Heading[] =>
  sections.map(({ heading }) => heading).filter(({ level }) => level === 2)

/** A picture or another file that documents refer to. */
export const findDocumentFile = (path: string): string | undefined =>
  Object.hasOwn(FILES, path) ? FILES[path] : undefined

/** The best sections that have every word of the query; of one document or of all. */
export async function searchDocuments(query: string, only?: string): Promise<Found[]> {
  searched ??= listDocuments().then((all) => all.flatMap(searchedSections))
  const sections = await searched
  return search(only === undefined ? sections : sections.filter(({ page }) => page === only), query)
}

/** Each is rendered once, when somebody first asks for it. */
const cache = new Map<string, Promise<Document>>()
let searched: Promise<Searched[]> | undefined

function rendered(name: string): Promise<Document> {
  const kept = cache.get(name) ?? render(name)
  cache.set(name, kept)
  return kept
}

async function render(name: string): Promise<Document> {
  const path = DOCUMENTS[name]
  const source = path === undefined ? await commandDocument() : await Bun.file(path).text()
  return { name, source, ...renderDocument(source, (href) => addressOf(name, href)) }
}

const searchedSections = ({ name, title, sections }: Document): Searched[] =>
  sections.map(({ heading, text }) => ({ page: name, title: title.label, heading, text }))

export const documentHref = (name: string, id?: string): string =>
  id === undefined ? `/docs/${name}` : `/docs/${name}#${encodeURIComponent(id)}`

/** Links between documents lead to their pages, those to other files of the repository nowhere. */
function addressOf(name: string, href: string): string | null {
  if (href.startsWith('#')) return href
  const url = URL.parse(href, `docs:/docs/${name}.md`)
  if (url === null) return null
  if (url.protocol !== 'docs:') return /^(https?|mailto):$/.test(url.protocol) ? href : null
  const path = url.pathname.replace(/^\/docs\//, '')
  if (findDocumentFile(path) !== undefined) return `/docs/${path}`
  const page = path.replace(/\.md$/, '')
  return path.endsWith('.md') && documentNames.includes(page) ? `/docs/${page}${url.hash}` : null
}
