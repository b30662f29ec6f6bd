import type { DomainView } from '../../../src/modules/domains/service.ts'
import { type FormError, field, fieldError, selectField } from '../../components/field.ts'
import { roleLabel } from '../../components/role.ts'
import { type Html, html } from '../../html.ts'
import type { Failed } from '../../project-request.ts'

type DomainFieldsProps = {
  /** What is stored; undefined for a new one. */
  domain?: DomainView | undefined
  aliasNames: readonly string[]
  failed?: Failed | undefined
}

/** `alias`: what the host shows. */
export const aliasField = ({ domain, aliasNames, failed }: DomainFieldsProps): Html => {
  const value = failed?.values['alias'] ?? domain?.alias ?? firstOf(aliasNames)
  const isMissing = value !== undefined && !aliasNames.includes(value)
  return selectField({
    name: 'alias',
    label: 'Alias',
    hint: 'Visitors see the deployment that it points at, now and after every release.',
    value,
    options: [
      ...(isMissing ? [{ value, label: `${value} (there is none of that name)` }] : []),
      ...aliasNames.map((name) => ({ value: name, label: name })),
    ],
    error: fieldError(failed?.error, 'alias'),
  })
}

const firstOf = (names: readonly string[]): string | undefined =>
  names.includes('production') ? 'production' : names[0]

/** `pathPrefix`, `redirectTo`, `isPublic`, `requiredRole`, `isSpa`: all of them may be left as they are. */
export function otherFields({ domain, failed }: DomainFieldsProps): Html {
  const { values, error } = failed ?? {}
  return html`
    ${field({
      name: 'pathPrefix',
      label: 'Folder',
      hint: html`Shows only this folder of the deployment, as if it were the whole site.`,
      placeholder: '/docs',
      value: values?.['pathPrefix'] ?? domain?.pathPrefix ?? '',
      required: false,
      error: fieldError(error, 'pathPrefix'),
      verbatim: true,
    })}
    ${field({
      name: 'redirectTo',
      label: 'Redirect to',
      hint: html`Sends all visitors to another host, with the path they asked for: the bare domain to <code>www</code>, say. It then shows nothing of its own.`,
      placeholder: 'www.example.com',
      value: values?.['redirectTo'] ?? domain?.redirectTo ?? '',
      required: false,
      error: fieldError(error, 'redirectTo'),
      verbatim: true,
    })}
    ${inheritedFields(domain, values)}
  `
}

const inheritedFields = (domain: DomainView | undefined, values: Failed['values'] | undefined): Html => html`
  ${selectField({
    name: 'isPublic',
    label: 'Visibility',
    value: values?.['isPublic'] ?? textOf(domain?.isPublic),
    options: [
      INHERITED,
      { value: 'true', label: 'Public: anyone' },
      { value: 'false', label: 'Private: people with a role' },
    ],
  })}
  ${selectField({
    name: 'requiredRole',
    label: 'Required role where it is private',
    value: values?.['requiredRole'] ?? domain?.requiredRole ?? '',
    options: [INHERITED, ...ROLES.map((role) => ({ value: role, label: `${roleLabel(role)} or higher` }))],
  })}
  ${selectField({
    name: 'isSpa',
    label: 'Unknown addresses',
    hint: 'A single-page app answers them with its index.html.',
    value: values?.['isSpa'] ?? textOf(domain?.isSpa),
    options: [
      INHERITED,
      { value: 'true', label: 'Show index.html: a single-page app' },
      { value: 'false', label: 'Show the 404 page' },
    ],
  })}
`

const INHERITED = { value: '', label: 'As the alias' }
const ROLES = ['guest', 'viewer', 'contributor', 'admin', 'owner'] as const

const textOf = (value: boolean | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

/** A sentence above a form whose fields say what is wrong with each of them. */
export const shortened = (error: FormError): FormError =>
  (error.details ?? []).length > 0 ? { ...error, message: 'Check what is marked.' } : error
