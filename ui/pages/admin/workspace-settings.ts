import type { Setting, Settings } from '../../../src/modules/settings/service.ts'
import { button } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { checkbox, formError, hidden, selectField } from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { type Html, html } from '../../html.ts'
import type { Failed } from '../../project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './workspace-frame.ts'

type WorkspaceSettingsPageProps = WorkspacePageBase & {
  settings: Settings
  failed?: Failed | undefined
}

/** The switches of the workspace. Sends `membership`, `registration` or `private-sites`. */
export const workspaceSettingsPage = (props: WorkspaceSettingsPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'settings', title: 'Settings', about: 'Who gets in, on every site of this workspace.' },
    html`${membership(props)} ${registration(props)} ${privateSites(props)}`,
  )

const membership = ({ settings, failed }: WorkspaceSettingsPageProps): Html =>
  card(
    {
      id: 'membership',
      title: 'Project Membership',
      about:
        'With it, an account signs in on a site only where it is a member of its project. Without it, every account signs in everywhere.',
    },
    switchForm({
      intent: 'membership',
      name: 'requireProjectMembership',
      label: 'Require project membership',
      hint: 'People without membership are strangers on that site, whatever their role. This admin is not affected.',
      setting: settings.requireProjectMembership,
      variable: 'FEATURE_REQUIRE_PROJECT_MEMBERSHIP',
      failed,
    }),
  )

const registration = ({ settings, failed }: WorkspaceSettingsPageProps): Html =>
  card(
    { id: 'registration', title: 'Registration', about: 'How new accounts are made.' },
    switchForm({
      intent: 'registration',
      name: 'allowPublicSignups',
      label: 'Anyone can register',
      hint: 'Without it, accounts are made by invitation and by administrators. New accounts are members.',
      setting: settings.allowPublicSignups,
      variable: null,
      failed,
    }),
  )

type Switch = {
  intent: string
  name: string
  label: string
  hint: string
  setting: Setting<boolean>
  /** The variable that fixes it; null where none can. */
  variable: string | null
  failed: Failed | undefined
}

function switchForm({ intent, name, label, hint, setting, variable, failed }: Switch): Html {
  if (setting.source === 'environment') return fixed(variable, setting.value ? 'On' : 'Off')
  return html`
    <form method="post" class="stack narrow">
      ${formError(failed?.intent === intent ? failed.error : undefined)} ${hidden('intent', intent)}
      ${checkbox({ name, label, hint, checked: setting.value })}
      <div>${button({ label: 'Save', accessibleName: `Save: ${label}` })}</div>
    </form>
  `
}

const fixed = (variable: string | null, value: string): Html =>
  notice({
    tone: 'info',
    message: html`
      <strong>${value}</strong>, fixed by ${variable === null ? 'the environment' : html`<code>${variable}</code>`} of
      the server. Change it there and restart.
    `,
  })

const RESPONSES = {
  not_found: '404, as if nothing were there',
  login: 'The sign-in page',
} as const

function privateSites({ settings, failed }: WorkspaceSettingsPageProps): Html {
  const { value, source } = settings.privateSiteResponse
  return card(
    { id: 'private-sites', title: 'Private sites', about: 'What somebody who is not signed in gets there.' },
    source === 'environment'
      ? fixed('PRIVATE_SITE_RESPONSE', RESPONSES[value])
      : html`
          <form method="post" class="stack narrow">
            ${formError(failed?.intent === 'private-sites' ? failed.error : undefined)}
            ${hidden('intent', 'private-sites')}
            ${selectField({
              name: 'privateSiteResponse',
              label: 'Strangers get',
              value,
              options: Object.entries(RESPONSES).map(([key, label]) => ({ value: key, label })),
            })}
            <div>${button({ label: 'Save', accessibleName: 'Save: Private sites' })}</div>
          </form>
        `,
  )
}
