import type { HtmlHandling } from './html-handling.ts'

/** What stands for a path: a file, or a redirect to the address of one. */
type Target<File> = File | { redirectTo: string }
type Targets<File> = Map<string, Target<File>>
type Named = { readonly path: string }
/** An HTML file with the address that it is wanted at, and the others that lead there. */
type Page<File> = { file: File; wanted: string; others: readonly string[] }
type SlashHandling = Exclude<HtmlHandling, 'none'>

/**
 * Adds the addresses of HTML files to those that are their names. No name of another file is ever taken away, and each
 * redirect leads to a file at once. contract §6, and 13 §5.
 */
export function addCleanAddresses<File extends Named>(
  targets: Targets<File>,
  handling: HtmlHandling | null,
): void {
  const files = [...targets.values()].filter((target) => 'path' in target)
  if (handling === null) addUsual(targets, files)
  else if (handling !== 'none') addOneEach(targets, files, handling)
}

/** `/dir/` shows its index; `/about` shows `about.html`, or else redirects to `/about/`. Each file keeps its name. */
function addUsual<File extends Named>(targets: Targets<File>, files: readonly File[]): void {
  for (const file of files) {
    if (file.path.endsWith(INDEX)) targets.set(file.path.slice(0, 1 - INDEX.length), file)
    if (file.path.endsWith(HTML)) setIfFree(targets, file.path.slice(0, -HTML.length), file)
  }
  for (const { path } of files) {
    if (!path.endsWith(INDEX) || path === INDEX) continue
    const folder = path.slice(0, 1 - INDEX.length)
    setIfFree(targets, folder.slice(0, -1), { redirectTo: folder })
  }
}

/** The address that a page is wanted at, where no other file has it. `path` ends in `.html`. */
export function cleanAddress(path: string, handling: HtmlHandling | null): string {
  if (handling === 'none') return path
  return pageOf({ path }, handling ?? 'auto-trailing-slash').wanted
}

const INDEX = '/index.html'
const HTML = '.html'

function setIfFree<File>(targets: Targets<File>, path: string, target: Target<File>): void {
  if (!path.endsWith('/') && !targets.has(path)) targets.set(path, target)
}

/** Each page has one address, and its others redirect there. */
function addOneEach<File extends Named>(
  targets: Targets<File>,
  files: readonly File[],
  handling: SlashHandling,
): void {
  const pages = files.filter(({ path }) => path.endsWith(HTML)).map((file) => pageOf(file, handling))
  for (const { wanted, file } of firstWanted(pages, handling))
    if (!targets.has(wanted)) targets.set(wanted, file)
  for (const { file, wanted, others } of pages) {
    const shown = targets.get(wanted)
    if (shown !== undefined && 'path' in shown && shown.path === wanted) continue
    for (const other of others) if (!targets.has(other)) targets.set(other, { redirectTo: wanted })
    if (shown === file) targets.set(file.path, { redirectTo: wanted })
  }
}

/** `a.html` and `a/index.html` may want one address: with a slash the folder has it, without one the page. */
function firstWanted<File extends Named>(
  pages: readonly Page<File>[],
  handling: SlashHandling,
): Page<File>[] {
  const isFirst = ({ file }: Page<File>) =>
    file.path.endsWith(INDEX) === (handling === 'force-trailing-slash')
  return [...pages.filter(isFirst), ...pages.filter((page) => !isFirst(page))]
}

function pageOf<File extends Named>(file: File, handling: SlashHandling): Page<File> {
  const bare = file.path.slice(0, -HTML.length)
  if (file.path === INDEX) return { file, wanted: '/', others: [bare] }
  if (!file.path.endsWith(INDEX))
    return handling === 'force-trailing-slash'
      ? { file, wanted: `${bare}/`, others: [bare] }
      : { file, wanted: bare, others: [`${bare}/`] }
  const folder = file.path.slice(0, -INDEX.length)
  return handling === 'drop-trailing-slash'
    ? { file, wanted: folder, others: [`${folder}/`, bare] }
    : { file, wanted: `${folder}/`, others: [folder, bare] }
}
