import type { Context } from '../../../context.ts'
import { AppError, type ErrorDetail, invalidField } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isSha256 } from '../../../domain/names.ts'
import type { Publication } from '../publish/record.ts'
import { parseOrder, UploadFields } from '../upload/fields.ts'
import {
  checksToRead,
  refuseClash,
  splitChecks,
  storedPath,
  tooManyFiles,
  type UploadedFile,
  unwrap,
} from '../upload/files.ts'
import type { LeftOut } from '../upload/left-out.ts'

/** What a delta upload will publish: its files with the hashes and sizes given by the client. */
export type Manifest = {
  publication: Publication
  files: UploadedFile[]
  /** What is to be checked of it; missing in uploads that began before there were any. */
  checks?: UploadedFile | null
}

/** Reporting every problem of 50,000 entries would help nobody. */
const MAX_DETAILS = 20

/** Converts fields of a JSON body to form fields. Throws `invalid` for anything but text and lists of texts. */
export function manifestFields(body: unknown): UploadFields {
  if (!isRecord(body)) throw new AppError('invalid', 'The body must be a JSON object')
  const fields = new UploadFields()
  for (const [name, value] of Object.entries(body)) {
    if (name === 'files' || !KNOWN_FIELDS.has(name) || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      if (!isField(name, one)) throw invalidField(name, 'must be a text, true or false')
      fields.add(name, String(one))
    }
  }
  return fields
}

/** A number is one of a pull request: a SHA of digits would lose its zeros. */
const isField = (name: string, value: unknown): value is string | number | boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (name === 'pullRequest' && typeof value === 'number')

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'owner',
  'repo',
  'repository',
  'commitSha',
  'branch',
  'description',
  'workflowName',
  'workflowRunId',
  'committedAt',
  'tags',
  'isPublic',
  'alias',
  'preview',
  'expiresIn',
  'pullRequest',
  'pullRequestUrl',
  'basePath',
  'append',
  'baseSha',
  'unwrap',
  'proxyRuleSetName',
  'proxyRuleSetNames',
  'proxyRuleSetId',
  'proxyRuleSetIds',
  'force',
  'ask',
  'leftOut',
])

/** Throws `invalid` with details for malformed or contradictory entries, `too_large` for too many files. */
export function parseManifest(ctx: Context, body: unknown, fields: UploadFields): Manifest {
  const { unwrap: isUnwrapped, asFiles: _, makesProject: _no, ...publication } = parseOrder(fields)
  const entries = isRecord(body) ? body['files'] : undefined
  if (!Array.isArray(entries)) throw invalidField('files', 'must be a list of { path, size, sha256 }')
  const files = new Map<string, UploadedFile>()
  const details: ErrorDetail[] = []
  for (const [index, entry] of entries.entries()) {
    const problem = addEntry(files, entry, fields.leftOut)
    if (problem !== undefined)
      details.push({ path: `files[${index}]${problem.path}`, message: problem.message })
    if (details.length === MAX_DETAILS) break
    if (files.size > ctx.config.maxDeploymentFiles) throw tooManyFiles(ctx)
  }
  const [first] = details
  if (first !== undefined) throw new AppError('invalid', `${first.path}: ${first.message}`, { details })
  const { files: named, checks: sent } = splitChecks([...files.values()])
  if (named.length === 0) throw noFiles()
  const { files: kept, unwrapped } = isUnwrapped ? unwrap(ctx, named) : { files: named, unwrapped: null }
  refuseClash(kept.map(({ path }) => path))
  return { publication, files: kept, checks: checksToRead(sent, publication.basePath, unwrapped) }
}

const noFiles = () => invalidField('files', 'names no files, or only files that are left out')

function addEntry(
  files: Map<string, UploadedFile>,
  entry: unknown,
  leftOut: LeftOut,
): ErrorDetail | undefined {
  const { path, size, sha256 } = isRecord(entry) ? entry : {}
  if (typeof path !== 'string') return { path: '.path', message: 'must be a text' }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    return { path: '.size', message: 'must be a whole number of bytes' }
  const hash = typeof sha256 === 'string' ? sha256.toLowerCase() : ''
  if (!isSha256(hash)) return { path: '.sha256', message: 'must be 64 hexadecimal digits' }
  const stored = readPath(path, leftOut)
  if (stored instanceof AppError) return { path: '.path', message: stored.message }
  if (stored === null) return undefined
  const known = files.get(stored)
  if (known !== undefined && (known.sha256 !== hash || known.sizeBytes !== size))
    return { path: '.path', message: `${JSON.stringify(stored)} is named twice, with different contents` }
  files.set(stored, { path: stored, sha256: hash, sizeBytes: size })
  return undefined
}

function readPath(path: string, leftOut: LeftOut): string | null | AppError {
  try {
    return storedPath(path, 'sender', leftOut)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Contents of the manifest by hash. Throws `invalid` when it gives two sizes for one content. */
export function contentsOf({ files, checks }: Pick<Manifest, 'files' | 'checks'>): Map<string, number> {
  const contents = new Map<string, number>()
  for (const { sha256, sizeBytes } of checks ? [...files, checks] : files) {
    if ((contents.get(sha256) ?? sizeBytes) !== sizeBytes)
      throw invalidField('files', `gives two sizes for ${sha256}`)
    contents.set(sha256, sizeBytes)
  }
  return contents
}

/** Throws when the project's content has another size than the manifest says: one of the two is damaged. */
export function refuseWrongSizes(
  contents: ReadonlyMap<string, number>,
  held: ReadonlyMap<string, number>,
): void {
  for (const [sha256, sizeBytes] of held) {
    const said = contents.get(sha256)
    if (said !== sizeBytes)
      throw new AppError('invalid', `${sha256} has ${sizeBytes} bytes; the manifest says ${said}`)
  }
}
