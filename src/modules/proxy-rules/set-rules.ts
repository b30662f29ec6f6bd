/** The rules of rule sets as they are stored, for the module that pushes them. */
export type { RuleRow } from './queries.ts'
export {
  countSetRules,
  deleteRuleRow,
  findRule,
  insertRule,
  listPipelines,
  listSetRules,
  updateRule,
} from './queries.ts'
