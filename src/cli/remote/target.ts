import { isRecord } from '../../domain/is-record.ts'
import { isAliasName, isCommitSha } from '../../domain/names.ts'
import { isUuid } from '../../domain/uuid.ts'
import { CommandFailure, UsageError } from '../command.ts'
import { strangeAnswer } from '../strange-answer.ts'
import { listRows, type Remote, type Row, requireAlias, textAt, unlessMissing } from './project.ts'

export const TARGET_HELP =
  'TARGET is a commit SHA (7 or more digits), the id of a deployment or the name of an alias.'

/** Where a TARGET leads: a deployment, and its address as the one who asked would type it. */
export type Pointed = { deploymentId: string; commitSha: string; url: string }

/** A server that is no svc must not name a program to run. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url)

/** Throws a `UsageError` for what cannot be a TARGET, and a `CommandFailure` for one that the project does not have. */
export async function resolveTarget(remote: Remote, target: string): Promise<Pointed> {
  requireTarget(target)
  if (isUuid(target)) return pointedOf(await deploymentById(remote, target))
  if (isCommitSha(target)) return pointedOf(await deploymentBySha(remote, target.toLowerCase()))
  const alias = await requireAlias(remote, target)
  return {
    deploymentId: textAt(alias, 'deploymentId'),
    commitSha: textAt(alias, 'commitSha'),
    url: textAt(alias, 'url'),
  }
}

/** Before anything is sent. */
export function requireTarget(target: string): void {
  if (!isUuid(target) && !isCommitSha(target) && !isAliasName(target))
    throw new UsageError(
      `"${target}" is neither a commit SHA (7 or more digits) nor the id of a deployment nor the name of an alias`,
    )
}

/** Of this project only: the key may reach others. */
async function deploymentById(remote: Remote, id: string): Promise<Row> {
  const found = await unlessMissing(remote.client.json('GET', `/api/deployments/${id}`))
  if (found !== undefined && !isRecord(found)) throw strangeAnswer()
  if (found === undefined || !isOf(remote, found))
    throw new CommandFailure(`${remote.name} has no deployment ${id}`)
  return found
}

const isOf = ({ owner, repo }: Remote, found: Row): boolean =>
  `${textAt(found, 'owner')}/${textAt(found, 'repo')}`.toLowerCase() === `${owner}/${repo}`.toLowerCase()

async function deploymentBySha(remote: Remote, sha: string): Promise<Row> {
  const found = await listRows(remote, '/api/deployments', { commitSha: sha }, 2)
  const exact = found.find((one) => one['commitSha'] === sha)
  const [first, second] = found
  if (first === undefined) throw new CommandFailure(`${remote.name} has no deployment of the commit ${sha}`)
  if (exact === undefined && second !== undefined && second['commitSha'] !== first['commitSha'])
    throw new CommandFailure(`several commits begin with ${sha}: give more of the SHA`)
  return exact ?? first
}

function pointedOf(deployment: Row): Pointed {
  const { urls } = deployment
  if (!isRecord(urls)) throw strangeAnswer()
  return {
    deploymentId: textAt(deployment, 'id'),
    commitSha: textAt(deployment, 'commitSha'),
    url: textAt(urls, 'preview'),
  }
}
