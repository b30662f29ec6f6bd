import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { changeAlias, deleteAlias, getAlias, historyOf } from '../modules/aliases/service.ts'
import { type Grant, operatorGrant } from '../modules/auth/authorize.ts'
import { compareDeployments, differencesBetween } from '../modules/compare/service.ts'
import { getFileDetail, listFolder } from '../modules/deployments/browse.ts'
import {
  deleteAsset,
  deleteDeployment,
  getAsset,
  getDeployment,
  listFiles,
} from '../modules/deployments/service.ts'
import {
  askCertificate,
  changeDomain,
  deleteDomain,
  getDomain,
  verifyDomain,
} from '../modules/domains/service.ts'
import {
  changeRule,
  createRule,
  deleteRule,
  findRuleFlaws,
  getRule,
  listRules,
  reorderRules,
} from '../modules/proxy-rules/service.ts'
import { exportRecords } from '../modules/records/export.ts'
import { addRecord, changeRecord, getRecord, listRecords, removeRecord } from '../modules/records/manage.ts'
import { usageOf } from '../modules/records/usage.ts'
import {
  changeRuleSet,
  deleteRuleSet,
  exportRuleSet,
  getRuleSet,
  listRuleSetRevisions,
  placeRuleSets,
  rollbackRuleSet,
  ruleSetsOfAlias,
} from '../modules/rule-sets/service.ts'
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  runScheduleNow,
} from '../modules/schedules/service.ts'
import { changeSchema, deleteSchema, getSchema } from '../modules/schemas/service.ts'
import { deleteTraffic, findSplit, setTraffic } from '../modules/traffic/service.ts'
import { createWorld, type World } from '../testing/access-world.ts'

/**
 * Services take a grant as proof of access. A grant for one project gives no access to another, whatever ids come with
 * it: a route or page that forgets to check the owner of an id still shows and changes nothing.
 */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

type Ids = { [K in (typeof NAMES)[number]]: string }
const NAMES = [
  ...(['projectId', 'deploymentId', 'aliasId', 'assetId', 'domainId', 'ruleId', 'ruleSetId'] as const),
  ...(['revisionId', 'schemaId', 'recordId', 'scheduleId', 'pipelineId'] as const),
]
const pick = (from: Record<string, string>): Ids =>
  Object.fromEntries(NAMES.map((name) => [name, from[name] ?? ''])) as Ids

type Service = (ctx: Context, grant: Grant, ids: Ids) => unknown

const level = ({ projectId, aliasId }: Ids) => ({ projectId, aliasId })
const rule = { pathPattern: '/x', targetUrl: 'https://backend.example' }
const split = { weights: [{ alias: 'production', weight: 100 }] }

const READS: Record<string, Service> = {
  getAlias: (ctx, grant, { aliasId }) => getAlias(ctx, grant, aliasId),
  historyOf: (ctx, grant, { aliasId }) => historyOf(ctx, grant, aliasId),
  getDeployment: (ctx, grant, { deploymentId }) => getDeployment(ctx, grant, deploymentId),
  listFiles: (ctx, grant, { deploymentId }) => listFiles(ctx, grant, deploymentId, {}),
  listFolder: (ctx, grant, { deploymentId }) => listFolder(ctx, grant, deploymentId, ''),
  getFileDetail: (ctx, grant, { deploymentId }) => getFileDetail(ctx, grant, deploymentId, 'x', true),
  compareDeployments: (ctx, grant, { deploymentId: id }) => compareDeployments(ctx, grant, id, { with: id }),
  differencesBetween: (ctx, grant, { deploymentId: id }) => differencesBetween(ctx, grant, id, id),
  getAsset: (ctx, grant, { assetId }) => getAsset(ctx, grant, assetId),
  getDomain: (ctx, grant, { domainId }) => getDomain(ctx, grant, domainId),
  findSplit: (ctx, grant, { domainId }) => findSplit(ctx, grant, domainId),
  getRule: (ctx, grant, { ruleId }) => getRule(ctx, grant, ruleId),
  findRuleFlaws: (ctx, grant, ids) => findRuleFlaws(ctx, grant, level(ids), ids.ruleId, rule),
  'listRules of an alias': (ctx, grant, ids) =>
    listRules(ctx, grant, { projectId: grant.projectId ?? '', aliasId: ids.aliasId }),
  'listRules of a project': (ctx, grant, { projectId }) =>
    listRules(ctx, grant, { projectId, aliasId: null }),
  getRuleSet: (ctx, grant, { ruleSetId }) => getRuleSet(ctx, grant, ruleSetId),
  exportRuleSet: (ctx, grant, { ruleSetId }) => exportRuleSet(ctx, grant, ruleSetId),
  listRuleSetRevisions: (ctx, grant, { ruleSetId }) => listRuleSetRevisions(ctx, grant, ruleSetId),
  ruleSetsOfAlias: (ctx, grant, { aliasId }) => ruleSetsOfAlias(ctx, grant, aliasId),
  getSchema: (ctx, grant, { schemaId }) => getSchema(ctx, grant, schemaId),
  usageOf: (ctx, grant, { schemaId }) => usageOf(ctx, grant, schemaId),
  getSchedule: (ctx, grant, { scheduleId }) => getSchedule(ctx, grant, scheduleId),
  listRecords: (ctx, grant, { schemaId }) => listRecords(ctx, grant, schemaId, {}, []),
  getRecord: (ctx, grant, { schemaId, recordId }) => getRecord(ctx, grant, schemaId, recordId),
  exportRecords: (ctx, grant, { schemaId }) => exportRecords(ctx, grant, schemaId, { format: 'json' }, []),
}

const WRITES: Record<string, Service> = {
  changeAlias: (ctx, grant, { aliasId }) => changeAlias(ctx, grant, aliasId, { isSpa: true }),
  deleteAlias: (ctx, grant, { aliasId }) => deleteAlias(ctx, grant, aliasId),
  deleteDeployment: (ctx, grant, { deploymentId }) => deleteDeployment(ctx, grant, deploymentId),
  deleteAsset: (ctx, grant, { assetId }) => deleteAsset(ctx, grant, assetId),
  changeDomain: (ctx, grant, { domainId }) => changeDomain(ctx, grant, domainId, { isSpa: true }),
  verifyDomain: (ctx, grant, { domainId }) => verifyDomain(ctx, grant, domainId, { verified: true }),
  askCertificate: (ctx, grant, { domainId }) => askCertificate(ctx, grant, domainId),
  deleteDomain: (ctx, grant, { domainId }) => deleteDomain(ctx, grant, domainId),
  setTraffic: (ctx, grant, { domainId }) => setTraffic(ctx, grant, domainId, split),
  deleteTraffic: (ctx, grant, { domainId }) => deleteTraffic(ctx, grant, domainId),
  createRule: (ctx, grant, ids) =>
    createRule(ctx, grant, { projectId: grant.projectId ?? '', aliasId: ids.aliasId }, rule),
  changeRule: (ctx, grant, { ruleId }) => changeRule(ctx, grant, ruleId, { isEnabled: false }),
  deleteRule: (ctx, grant, { ruleId }) => deleteRule(ctx, grant, ruleId),
  reorderRules: (ctx, grant, ids) => reorderRules(ctx, grant, level(ids), []),
  changeRuleSet: (ctx, grant, { ruleSetId }) => changeRuleSet(ctx, grant, ruleSetId, { name: 'x' }),
  deleteRuleSet: (ctx, grant, { ruleSetId }) => deleteRuleSet(ctx, grant, ruleSetId),
  rollbackRuleSet: (ctx, grant, ids) => rollbackRuleSet(ctx, grant, ids.ruleSetId, ids.revisionId),
  placeRuleSets: (ctx, grant, { aliasId }) => placeRuleSets(ctx, grant, aliasId, []),
  createSchedule: (ctx, grant, { pipelineId: ruleId }) =>
    createSchedule(ctx, grant, { name: 'new', cron: '@daily', ruleId }),
  changeSchedule: (ctx, grant, { scheduleId }) =>
    changeSchedule(ctx, grant, scheduleId, { isEnabled: false }),
  runScheduleNow: (ctx, grant, { scheduleId }) => runScheduleNow(ctx, grant, scheduleId),
  deleteSchedule: (ctx, grant, { scheduleId }) => deleteSchedule(ctx, grant, scheduleId),
  changeSchema: (ctx, grant, { schemaId }) => changeSchema(ctx, grant, schemaId, { name: 'x' }),
  deleteSchema: (ctx, grant, { schemaId }) => deleteSchema(ctx, grant, schemaId),
  addRecord: (ctx, grant, { schemaId }) => addRecord(ctx, grant, schemaId, {}),
  changeRecord: (ctx, grant, { schemaId, recordId }) => changeRecord(ctx, grant, schemaId, recordId, {}),
  removeRecord: (ctx, grant, { schemaId, recordId }) => removeRecord(ctx, grant, schemaId, recordId),
}

/** The status of the refusal; null if there is none. */
async function refusalOf(service: Service, ids: Ids): Promise<number | null> {
  try {
    await service(world.app.ctx, operatorGrant(pick(world.ids).projectId), ids)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.status
    throw error
  }
}

describe('a grant for a project', () => {
  test.each(Object.entries(READS))('%s shows things of that project', async (_, service) => {
    expect(await refusalOf(service, pick(world.ids))).toBeNull()
  })

  test.each(Object.entries({ ...READS, ...WRITES }))(
    '%s rejects things of another project',
    async (_, service) => {
      expect(await refusalOf(service, pick(world.foreignIds))).toBe(404)
    },
  )
})
