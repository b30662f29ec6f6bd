import { nestedFolder } from '../nested-folder.ts'
import { routingFileAt } from '../routing/compile.ts'
import type { Finding } from './findings.ts'

/** What a host serves of a deployment: `paths` are those of all files, `folder` is `''` or such as `/dist`. */
export type ServedFiles = { paths: readonly string[]; folder: string }

/** What the names of the files alone tell. */
export function* findInNames(served: ServedFiles): Generator<Finding> {
  yield* findStart(served)
  yield* findRoutingElsewhere(served)
  yield* findCaseCollisions(served.paths)
  yield* findClashes(served.paths)
}

function* findStart({ paths, folder }: ServedFiles): Generator<Finding> {
  const above = `${folder}/`.slice(1)
  const inside = paths.filter((path) => path.startsWith(above)).map((path) => path.slice(above.length))
  if (inside.includes('index.html')) return
  const nested = nestedFolder(inside)
  if (nested === null) {
    const at = folder === '' ? 'at the top' : `in ${folder}/`
    yield about('start-page-missing', {
      file: `${above}index.html`,
      message: `There is no index.html ${at}, so the address of the site alone shows no page.`,
    })
    return
  }
  yield about('nested-folder', {
    file: `${above}${nested}`,
    target: `/${nested}/`,
    message: `The start page is in the folder ${nested}: publish what is in that folder, or name it as basePath.`,
  })
}

function* findRoutingElsewhere({ paths, folder }: ServedFiles): Generator<Finding> {
  for (const file of paths) {
    const at = routingFileAt(file)
    if (at === null || at.folder === folder) continue
    yield about('routing-file-elsewhere', {
      file,
      message: `It has no effect here: only the _redirects and _headers ${folder === '' ? 'at the top' : `in ${folder}/`} count.`,
    })
  }
}

function* findCaseCollisions(paths: readonly string[]): Generator<Finding> {
  const first = new Map<string, string>()
  for (const file of paths) {
    const folded = file.toLowerCase()
    const other = first.get(folded)
    if (other === undefined) first.set(folded, file)
    else
      yield about('case-collision', {
        file,
        target: `/${other}`,
        message: `${file} and ${other} differ only in case, so on some disks one replaces the other: rename one.`,
      })
  }
}

const INDEX = '/index.html'

function* findClashes(paths: readonly string[]): Generator<Finding> {
  const all = new Set(paths)
  for (const folderPage of paths) {
    if (!folderPage.endsWith(INDEX)) continue
    const file = `${folderPage.slice(0, -INDEX.length)}.html`
    if (!all.has(file)) continue
    yield about('address-clash', {
      file,
      target: `/${folderPage}`,
      message: `${file} and ${folderPage} both want one address: without a slash at its end the page is shown, with one the folder.`,
    })
  }
}

const about = (kind: Finding['kind'], finding: Pick<Finding, 'message'> & Partial<Finding>): Finding => ({
  kind,
  file: null,
  line: null,
  target: null,
  ...finding,
})
