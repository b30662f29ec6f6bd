import type { Setting } from '../../src/modules/settings/read-settings.ts'
import type { Settings } from '../../src/modules/settings/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { checkbox, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import type { Failed } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type WorkspaceSettingsPageProps = WorkspacePageBase & {
  settings: Settings
  failed?: Failed | undefined
}

/** The switches of the workspace. Sends `membership`, `registration`, `private-sites` or `pictures`. */
export const workspaceSettingsPage = (props: WorkspaceSettingsPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'settings', title: 'Settings', about: 'Who has access to the sites of this workspace.' },
    html`${membership(props)} ${registration(props)} ${privateSites(props)} ${pictures(props)}`,
  )

const membership = ({ settings, failed }: WorkspaceSettingsPageProps): Html =>
  card(
    {
      id: 'membership',
      title: 'Project Membership',
      about:
        'If required, an account can sign in on a site only as a member of its project. Otherwise every account can sign in everywhere.',
    },
    switchForm({
      intent: 'membership',
      name: 'requireProjectMembership',
      label: 'Require project membership',
      hint: 'People without a membership are treated as not signed in on that site, regardless of their role. This admin is not affected.',
      setting: settings.requireProjectMembership,
      variable: 'FEATURE_REQUIRE_PROJECT_MEMBERSHIP',
      failed,
    }),
  )

const registration = ({ settings, failed }: WorkspaceSettingsPageProps): Html =>
  card(
    { id: 'registration', title: 'Registration', about: 'How new accounts are created.' },
    switchForm({
      intent: 'registration',
      name: 'allowPublicSignups',
      label: 'Anyone can register',
      hint: 'Otherwise accounts are created by invitation and by administrators. New accounts have the role member.',
      setting: settings.allowPublicSignups,
      variable: null,
      failed,
    }),
  )

const pictures = ({ settings, failed }: WorkspaceSettingsPageProps): Html =>
  card(
    { id: 'site-pictures', title: 'Pictures', about: 'How sites are recognised on these pages.' },
    switchForm({
      intent: 'pictures',
      name: 'pictures',
      label: 'Show small pictures of the sites',
      hint: 'Each is the site itself, made small: its scripts run, cut off from everything but its own files. Otherwise its first letter is shown.',
      setting: settings.pictures,
      variable: 'PICTURES',
      failed,
    }),
  )

type Switch = {
  intent: string
  name: string
  label: string
  hint: string
  setting: Setting<boolean>
  /** The environment variable that can fix the setting; null if there is none. */
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
      <strong>${value}</strong>, set by ${variable === null ? 'the environment' : html`<code>${variable}</code>`} of
      the server. Change it there and restart.
    `,
  })

const RESPONSES = {
  not_found: '404, as if the site did not exist',
  login: 'The sign-in page',
} as const

function privateSites({ settings, failed }: WorkspaceSettingsPageProps): Html {
  const { value, source } = settings.privateSiteResponse
  return card(
    { id: 'private-sites', title: 'Private sites', about: 'What visitors who are not signed in get.' },
    source === 'environment'
      ? fixed('PRIVATE_SITE_RESPONSE', RESPONSES[value])
      : html`
          <form method="post" class="stack narrow">
            ${formError(failed?.intent === 'private-sites' ? failed.error : undefined)}
            ${hidden('intent', 'private-sites')}
            ${selectField({
              name: 'privateSiteResponse',
              label: 'Visitors who are not signed in get',
              value,
              options: Object.entries(RESPONSES).map(([key, label]) => ({ value: key, label })),
            })}
            <div>${button({ label: 'Save', accessibleName: 'Save: Private sites' })}</div>
          </form>
        `,
  )
}
