import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { webAddress } from '../../../scripts/actions/upload/lib/forge/job.mjs'
import { messageOf } from '../../domain/errors.ts'
import { CommandFailure, type Io } from '../command.ts'

/** Variables for the steps behind this one, such as the `environment: url:` of GitLab. contract 16 §2. */
export function writeDotenv(
  file: string,
  { name, url, expiresAt }: { name: string; url: string | null; expiresAt: string | undefined },
  io: Io,
): void {
  const ends = Date.parse(expiresAt ?? '')
  const lines = [
    `SVC_PREVIEW_URL=${webAddress(url) ?? ''}`,
    `SVC_PREVIEW_NAME=${name}`,
    `SVC_EXPIRES_AT=${Number.isNaN(ends) ? '' : new Date(ends).toISOString()}`,
  ]
  try {
    writeFileSync(resolve(io.cwd, file), `${lines.join('\n')}\n`)
  } catch (error) {
    throw new CommandFailure(`the preview is published, but ${file} cannot be written: ${messageOf(error)}`)
  }
}
