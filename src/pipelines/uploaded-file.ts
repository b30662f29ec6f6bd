import type { Context } from '../context.ts'
import { passingOn } from '../http/held-body.ts'
import type { FormPart } from '../http/multipart.ts'
import { type StagedFile, stageAgain, stageFile } from '../modules/files/service.ts'
import { MAX_BODY_BYTES } from './body-bounds.ts'
import { DEFAULT_UPLOAD_BYTES } from './language/handlers/file-upload.ts'
import { constantOf, numberOf } from './language/handlers/words.ts'
import type { PipelineRule, PipelineStep } from './language/model.ts'
import { findHandler } from './language/registry.ts'

type FilePart = FormPart & { kind: 'file' }

/** The file of a form. It is on the disk, where it stays only if a step takes it. */
export class UploadedFile {
  readonly filename: string
  readonly contentType: string | null
  readonly #ctx: Context
  readonly #staged: StagedFile
  #isTaken = false

  constructor(ctx: Context, { filename, contentType }: FilePart, staged: StagedFile) {
    this.#ctx = ctx
    this.filename = filename
    this.contentType = contentType ?? null
    this.#staged = staged
  }

  get size(): number {
    return this.#staged.size
  }

  /** For whoever keeps it, or discards it. Each step gets its own: an earlier one has kept it, or ended the run. */
  take(): StagedFile {
    if (this.#isTaken) return stageAgain(this.#ctx, this.#staged)
    this.#isTaken = true
    return this.#staged
  }

  /** Unless a step took it. */
  async discard(): Promise<void> {
    if (!this.#isTaken) await this.#staged.discard()
  }
}

/** What becomes of the file of a form. */
export type FormFile = {
  maxBytes: number
  /** Throws 413 as soon as it is too large. */
  store(request: Request, part: FilePart): Promise<UploadedFile>
}

/** Null if no step of the rule takes the file of a form. contract 14.3, Bodies. */
export function formFileOf(ctx: Context, { projectId, pipelineConfig }: PipelineRule): FormFile | null {
  const takers = pipelineConfig.steps.filter(takesFormFile)
  if (takers.length === 0) return null
  const { maxUploadBytes } = ctx.config
  const maxBytes = Math.min(Math.max(...takers.map(maxFileSizeOf)), maxUploadBytes)
  return {
    maxBytes,
    async store(request, part) {
      const body = passingOn(request, part.body)
      const limits = { maxBytes, statedBytes: leastBytes(request) }
      return new UploadedFile(ctx, part, await stageFile(ctx, projectId, body, limits))
    },
  }
}

/** What the file has at least, by the length of the form: all else is bounded. */
const leastBytes = ({ headers }: Request): number =>
  Math.max(0, Number(headers.get('content-length') ?? 0) - MAX_BODY_BYTES)

function takesFormFile({ handlerType, isEnabled, config }: PipelineStep): boolean {
  if (isEnabled === false || findHandler(handlerType)?.names[0] !== 'file_upload_handler') return false
  const source = config?.['sourceUrl']
  return source === undefined || source === null || source === ''
}

/** A size that is computed is known when the step runs, which then checks it. */
function maxFileSizeOf({ config }: PipelineStep): number {
  const given = config?.['maxFileSize']
  if (given === undefined || given === null || given === '') return DEFAULT_UPLOAD_BYTES
  return numberOf(constantOf(given)) ?? Number.POSITIVE_INFINITY
}
