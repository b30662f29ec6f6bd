import type { Grant } from '../../src/modules/auth/authorize.ts'
import type { RuleLevel } from '../../src/modules/proxy-rules/service.ts'
import type { Form } from '../frame/form.ts'

/** A form for a rule: the level it belongs to, and the rule it changes (null for a new one). */
export type TypedRule = { grant: Grant; level: RuleLevel; id: string | null; form: Form }
