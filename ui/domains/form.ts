import { PROJECT_ROLES } from '../../src/domain/roles.ts'
import type { DomainView } from '../../src/modules/domains/service.ts'
import { type FormError, field, fieldError, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { roleLabel } from '../components/role.ts'
import type { Failed } from '../frame/project-request.ts'

type DomainFieldsProps = {
  /** The stored domain; undefined for a new one. */
  domain?: DomainView | undefined
  aliasNames: readonly string[]
  failed?: Failed | undefined
}

/** `alias`: the alias that the host shows. */
export const aliasField = ({ domain, aliasNames, failed }: DomainFieldsProps): Html => {
  const value = failed?.values['alias'] ?? domain?.alias ?? firstOf(aliasNames)
  const isMissing = value !== undefined && !aliasNames.includes(value)
  return selectField({
    name: 'alias',
    label: 'Alias',
    hint: 'Visitors see the deployment it points at, including after each release.',
    value,
    options: [
      ...(isMissing ? [{ value, label: `${value} (does not exist)` }] : []),
      ...aliasNames.map((name) => ({ value: name, label: name })),
    ],
    error: fieldError(failed?.error, 'alias'),
  })
}

const firstOf = (names: readonly string[]): string | undefined =>
  names.includes('production') ? 'production' : names[0]

/** `pathPrefix`, `redirectTo`, `isPublic`, `requiredRole` and `isSpa`, all optional. */
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
      hint: html`Sends all visitors to the same path on another host, for example from the bare domain to <code>www</code>. The domain itself then shows nothing.`,
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
    label: 'Required role when private',
    value: values?.['requiredRole'] ?? domain?.requiredRole ?? '',
    options: [
      INHERITED,
      ...PROJECT_ROLES.map((role) => ({ value: role, label: `${roleLabel(role)} or higher` })),
    ],
  })}
  ${selectField({
    name: 'isSpa',
    label: 'Unknown addresses',
    hint: 'A single-page app answers them with its 200.html or index.html.',
    value: values?.['isSpa'] ?? textOf(domain?.isSpa),
    options: [
      INHERITED,
      { value: 'true', label: 'Show its page: a single-page app' },
      { value: 'false', label: 'Show the 404 page' },
    ],
  })}
`

const INHERITED = { value: '', label: 'Same as alias' }

const textOf = (value: boolean | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

/** Where the fields show their own errors, the sentence above the form is short. */
export const shortened = (error: FormError): FormError =>
  (error.details ?? []).length > 0 ? { ...error, message: 'Check the marked fields.' } : error
