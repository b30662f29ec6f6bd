/** The rules of rule sets as they are stored, for the module that pushes them. */
export { countSetRules, deleteRuleRow, insertRule, listSetRules, updateRule } from './queries.ts'
