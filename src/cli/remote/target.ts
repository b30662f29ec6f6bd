import { parseDeploymentNumber } from '../../domain/deployment-name.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isAliasName, isCommitSha } from '../../domain/names.ts'
import { isUuid } from '../../domain/uuid.ts'
import { CommandFailure, UsageError } from '../command.ts'
import { strangeAnswer } from '../strange-answer.ts'
import { findAlias, listRows, noSuchAlias, type Remote, type Row, textAt, unlessMissing } from './project.ts'

export const TARGET_HELP =
  'TARGET is the number of a deployment (12, or "#12"), an alias, which comes first where one is called 12, a commit SHA\n(7 or more digits) for its newest version, SHA@VERSION, or the id of a deployment.'

/** Where a TARGET leads: a deployment, and its address as the one who asked would type it. */
export type Pointed = { deploymentId: string; commitSha: string; url: string }

/** A server that is no svc must not name a program to run. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url)

/** Throws a `UsageError` for what cannot be a TARGET, and a `CommandFailure` for one that the project does not have. */
export async function resolveTarget(remote: Remote, target: string): Promise<Pointed> {
  requireTarget(target)
  if (isUuid(target)) return pointedOf(await deploymentById(remote, target), 'version')
  if (target.startsWith('#'))
    return pointedOf(await deploymentByNumber(remote, numberOf(target) ?? 0), 'version')
  const { sha, version } = parseVersion(target)
  if (isCommitSha(sha)) {
    const found = await versionOfSha(remote, sha.toLowerCase(), version)
    return pointedOf(found, version === undefined ? 'preview' : 'version')
  }
  const number = numberOf(target)
  const alias = await findAlias(remote, target)
  if (alias === undefined && number !== undefined)
    return pointedOf(await deploymentByNumber(remote, number), 'version')
  if (alias === undefined) throw noSuchAlias(remote, target)
  return {
    deploymentId: textAt(alias, 'deploymentId'),
    commitSha: textAt(alias, 'commitSha'),
    url: textAt(alias, 'url'),
  }
}

/** Before anything is sent. */
export function requireTarget(target: string): void {
  const isNumber = target.startsWith('#') && numberOf(target) !== undefined
  if (!isNumber && !isUuid(target) && !isCommitSha(parseVersion(target).sha) && !isAliasName(target))
    throw new UsageError(
      `"${target}" is neither a number of a deployment from 1, a commit SHA (7 or more digits), with or without @VERSION, the id of a deployment nor the name of an alias`,
    )
}

/** `12` and `#12`. */
const numberOf = (target: string): number | undefined => parseDeploymentNumber(target.replace(/^#/, ''))

/** `SHA@VERSION`; anything else stands for itself. */
function parseVersion(target: string): { sha: string; version: number | undefined } {
  const [, sha = target, version] = /^([^@]+)@([1-9]\d{0,8})$/.exec(target) ?? []
  return { sha, version: version === undefined ? undefined : Number(version) }
}

/** An older server has no numbers, and answers with any deployment. */
async function deploymentByNumber(remote: Remote, number: number): Promise<Row> {
  const [found] = await listRows(remote, '/api/deployments', { number: String(number) }, 1)
  if (found?.['number'] !== number) throw new CommandFailure(`${remote.name} has no deployment #${number}`)
  return found
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

/** The newest without a version. */
async function versionOfSha(remote: Remote, sha: string, version: number | undefined): Promise<Row> {
  const found = await listRows(remote, '/api/deployments', { commitSha: sha })
  const exact = found.filter((one) => one['commitSha'] === sha)
  const versions = exact.length > 0 ? exact : found
  const [first] = versions
  if (first === undefined) throw new CommandFailure(`${remote.name} has no deployment of the commit ${sha}`)
  if (versions.some((one) => one['commitSha'] !== first['commitSha']))
    throw new CommandFailure(`several commits begin with ${sha}: give more of the SHA`)
  const wanted = versions.find((one) =>
    version === undefined ? one['isLatest'] === true : one['version'] === version,
  )
  // An older server has one deployment of each commit.
  if (wanted === undefined && version === undefined) return first
  if (wanted === undefined)
    throw new CommandFailure(`${remote.name} has no version ${version} of the commit ${sha}`)
  return wanted
}

function pointedOf(deployment: Row, address: 'preview' | 'version'): Pointed {
  const { urls } = deployment
  if (!isRecord(urls)) throw strangeAnswer()
  return {
    deploymentId: textAt(deployment, 'id'),
    commitSha: textAt(deployment, 'commitSha'),
    url: textAt(urls, typeof urls[address] === 'string' ? address : 'preview'),
  }
}
