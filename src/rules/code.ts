import { messageOf } from '../domain/errors.ts'
import type { Problem } from '../domain/file-problems.ts'
import { flawOfCode } from '../pipelines/language/check-code.ts'
import { type SetFiles, shownPath } from './set-files.ts'

const EXTENSIONS = ['.ts', '.js', '.mjs', '.json']

/** Whether a step may name this file as its code. */
export const isCodePath = (path: string): boolean => /\.(js|mjs|ts)$/.test(path)

/** Resolves `./greet.ts` in `rules/api` to `rules/api/greet.ts`. Returns null for a path outside the rule set. */
export function insidePath(folder: string, relative: string): string | null {
  if (relative.startsWith('/') || relative.includes('\\')) return null
  const parts = folder.split('/').filter((part) => part !== '')
  for (const part of relative.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return null
    } else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

/**
 * Bundles the code of a step into one script that declares `handler`. A script without imports and exports stays as it
 * is, without its types. A module must export `handler` or a default, and is bundled with its imports from inside the
 * set.
 */
export async function bundleCode(
  files: SetFiles,
  path: string,
): Promise<{ code: string } | { problems: Problem[] }> {
  const read = files.read(path)
  if ('problem' in read)
    return { problems: [{ file: shownPath(files, path), line: 1, column: 1, message: read.problem }] }
  const loader = path.endsWith('.ts') ? 'ts' : 'js'
  const transpiler = new Bun.Transpiler({ loader, deadCodeElimination: false, trimUnusedImports: false })
  try {
    const { imports, exports } = transpiler.scan(read.text)
    if (imports.length === 0 && exports.length === 0)
      return checkedScript(files, path, loader === 'ts' ? transpiler.transformSync(read.text) : read.text)
    const name = ['handler', 'default'].find((one) => exports.includes(one))
    if (name === undefined)
      return {
        problems: [
          problemAt(files, path, undefined, 'a module must export handler: export const handler = …'),
        ],
      }
    return await bundleModule(files, path, name)
  } catch (error) {
    return { problems: messagesOf(error).map((one) => problemAt(files, path, one.position, one.message)) }
  }
}

function checkedScript(
  files: SetFiles,
  path: string,
  code: string,
): { code: string } | { problems: Problem[] } {
  const flaw = flawOfCode(code)
  return flaw === null ? { code } : { problems: [problemAt(files, path, flaw, flaw.message)] }
}

async function bundleModule(
  files: SetFiles,
  path: string,
  exported: string,
): Promise<{ code: string } | { problems: Problem[] }> {
  const problems: Problem[] = []
  const built = await Bun.build({
    entrypoints: ['svc:entry'],
    format: 'iife',
    target: 'browser',
    minify: false,
    throw: false,
    plugins: [setPlugin(files, path, exported, problems)],
  })
  if (problems.length === 0 && !built.success)
    for (const log of built.logs) {
      const position = 'position' in log ? (log.position as Position) : undefined
      const file = position?.file.replace(/^set:/, '') ?? path
      problems.push(problemAt(files, files.paths.includes(file) ? file : path, position, log.message))
    }
  const [output] = built.outputs
  if (problems.length > 0 || output === undefined) return { problems }
  const body = await output.text()
  return {
    code: `var handler = (() => {\n  let declared\n  const __svcExport = (value) => { declared = value }\n${body.trimEnd()}\n  return declared\n})()\n`,
  }
}

const ENTRY = 'svc:entry'

function setPlugin(files: SetFiles, path: string, exported: string, problems: Problem[]): Bun.BunPlugin {
  return {
    name: 'rule-set',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path: asked, importer }) => {
        if (asked === ENTRY) return { path: 'entry', namespace: 'svc' }
        if (importer === 'entry') return { path, namespace: 'set' }
        const found = resolveImport(files, importer, asked)
        if ('path' in found) return { path: found.path, namespace: 'set' }
        problems.push(importProblem(files, importer, asked, found.problem))
        return { path: 'nothing', namespace: 'svc' }
      })
      build.onLoad({ filter: /.*/, namespace: 'svc' }, ({ path: virtual }) => ({
        contents:
          virtual === 'entry'
            ? `import { ${exported} as declared } from 'svc:main'\n__svcExport(declared)`
            : 'export default null',
        loader: 'js',
      }))
      build.onLoad({ filter: /.*/, namespace: 'set' }, ({ path: inner }) => {
        const read = files.read(inner)
        if ('problem' in read)
          problems.push({ file: shownPath(files, inner), line: 1, column: 1, message: read.problem })
        const loader = inner.endsWith('.json') ? 'json' : inner.endsWith('.ts') ? 'ts' : 'js'
        return { contents: 'text' in read ? read.text : '', loader }
      })
    },
  }
}

function resolveImport(
  files: SetFiles,
  importer: string,
  asked: string,
): { path: string } | { problem: string } {
  if (!asked.startsWith('./') && !asked.startsWith('../'))
    return {
      problem: `"${asked}" cannot be imported: import only files of the rule set, as ./name or ../name`,
    }
  const folder = importer.includes('/') ? importer.slice(0, importer.lastIndexOf('/')) : ''
  const inside = insidePath(folder, asked)
  if (inside === null) return { problem: `"${asked}" is outside the rule set` }
  const path = ['', ...EXTENSIONS]
    .map((extension) => inside + extension)
    .find((one) => files.paths.includes(one))
  if (path === undefined) return { problem: `"${asked}": the rule set has no such file` }
  return isCodePath(path) || path.endsWith('.json')
    ? { path }
    : { problem: `"${asked}" is not code: only .ts, .js, .mjs and .json files can be imported` }
}

type Position = { file: string; line: number; column: number }
type Place = Pick<Position, 'line' | 'column'>

function importProblem(files: SetFiles, importer: string, asked: string, message: string): Problem {
  const read = files.read(importer)
  const text = 'text' in read ? read.text : ''
  const offset = Math.max(text.indexOf(`'${asked}'`), text.indexOf(`"${asked}"`), 0)
  const before = text.slice(0, offset).split('\n')
  return {
    file: shownPath(files, importer),
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    message,
  }
}

const problemAt = (files: SetFiles, path: string, at: Place | undefined, message: string): Problem => ({
  file: shownPath(files, path),
  line: Math.max(at?.line ?? 1, 1),
  column: Math.max(at?.column ?? 1, 1),
  message,
})

function messagesOf(error: unknown): { message: string; position: Position | undefined }[] {
  if (error instanceof AggregateError) return error.errors.flatMap(messagesOf)
  const message = messageOf(error)
  const position = error instanceof Error && 'position' in error ? (error.position as Position) : undefined
  return [{ message, position: position ?? undefined }]
}
