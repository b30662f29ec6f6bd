/** What a deploy report says of the files of a deployment. contract 13 §7. */

export const SEVERITIES = ['error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Each kind of finding, with how bad it is. */
export const FINDING_KINDS = {
  'redirect-refused': 'error',
  'header-refused': 'error',
  'redirect-loop': 'error',
  'redirect-shadowed': 'warning',
  'redirect-chain': 'warning',
  'redirect-target-missing': 'warning',
  'redirect-unknown-placeholder': 'warning',
  'redirect-hides-file': 'info',
  'link-missing': 'warning',
  'asset-missing': 'warning',
  'mixed-content': 'warning',
  'start-page-missing': 'warning',
  'nested-folder': 'warning',
  'routing-file-elsewhere': 'warning',
  'case-collision': 'warning',
  'address-clash': 'info',
  'left-out': 'info',
  'secret-left-out': 'warning',
  'secret-published': 'error',
} as const satisfies Record<string, Severity>

export type FindingKind = keyof typeof FINDING_KINDS

/**
 * `file`: a path as in the list of files; `line` counts from 1; `target`: the address that is meant, resolved. Each is null where
 * there is none. `message` says in one sentence what is wrong and what to do.
 */
export type Finding = {
  kind: FindingKind
  file: string | null
  line: number | null
  target: string | null
  message: string
}
