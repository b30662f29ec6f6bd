import type { BackupsView, BackupView } from '../../src/modules/backups/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { accountHint, field, fieldError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { formatSize } from '../components/size.ts'
import { table } from '../components/table.ts'
import { time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

/** What the person has to send to be given a backup. */
export type AskedProof = { password: boolean; code: boolean }

type BackupsPageProps = WorkspacePageBase & {
  backups: BackupsView
  proof: AskedProof
  /** The absolute folder of the running server. */
  dataDir: string
  failed?: Failed | undefined
}

/** Making, fetching and listing backups. Sends `download` with `password`, `code` and perhaps `name`, or `make`. contract 17.8. */
export const backupsPage = (props: BackupsPageProps): Html => {
  const { backups, failed } = props
  return workspaceFrame(
    props,
    {
      place: 'backups',
      title: 'Backups',
      about: 'Each backup is one file with the whole workspace at one moment.',
    },
    html`
      ${failed !== undefined && notice({ tone: 'bad', message: failed.error.message, live: true })}
      ${
        backups.lastFailure !== null &&
        notice({
          tone: 'bad',
          message: html`The last backup failed ${time(backups.lastFailure.at)}: ${backups.lastFailure.message}`,
        })
      }
      ${downloadCard(props)} ${backups.directory === null ? notSetUp(props.dataDir) : made(backups)}
    `,
  )
}

const downloadCard = ({ user, backups, proof, failed }: BackupsPageProps): Html => {
  const error = failed?.intent === 'download' ? failed.error : undefined
  return card(
    {
      id: 'download',
      title: 'Download',
      about: html`The file holds every secret of the server: keep it as safe as the server. <code>svc restore FILE</code> turns it into
      a server again.`,
    },
    html`
      ${details([
        ['Last backup', lastBackupText(backups.last)],
        ['Last drill', lastDrillText(backups.lastDrill)],
      ])}
      <form method="post" class="stack narrow">
        ${hidden('intent', 'download')} ${accountHint(user.email)}
        ${
          proof.password
            ? field({
                name: 'password',
                label: 'Your password',
                type: 'password',
                autocomplete: 'current-password',
                autofocus: error !== undefined,
                error: fieldError(error, 'password'),
              })
            : html`<p class="muted">You have no password here: sign in within the last 10 minutes.</p>`
        }
        ${
          proof.code &&
          field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', hint: 'Of your second step.' })
        }
        <div>${button({ label: 'Make a backup and download it' })}</div>
        ${backups.backups.length > 0 && whichOne(backups.backups)}
      </form>
    `,
  )
}

/** One that is there is fetched with the same proofs. */
const whichOne = (files: readonly BackupView[]): Html => html`
  <details class="more">
    <summary>Download one that is there</summary>
    <ul class="plain">
      ${files.map(
        ({ name, sizeBytes }) =>
          html`<li>
            ${button({ label: 'Download', kind: 'secondary', small: true, name: 'name', value: name, accessibleName: `Download ${name}` })}
            <code>${name}</code> ${formatSize(sizeBytes)}
          </li>`,
      )}
    </ul>
  </details>
`

const WAYS = {
  schedule: 'by schedule',
  page: 'on this page',
  download: 'downloaded',
  command: 'by svc backup',
} as const satisfies Record<NonNullable<BackupsView['last']>['how'], string>

/** For here and the page Health. */
export const lastBackupText = (last: BackupsView['last']): Html =>
  last === null
    ? html`never`
    : html`${time(last.at)}, ${WAYS[last.how]}${last.by !== null && ` by ${last.by}`}`

export const lastDrillText = (drill: BackupsView['lastDrill']): Html =>
  drill === null ? html`never` : html`${time(drill.at)}: ${drill.message}`

const notSetUp = (dataDir: string): Html =>
  card(
    { id: 'plan', title: 'Schedule' },
    html`<p>Backups are not set up to be made without you. Start svc with <code>BACKUP_DIR</code>, preferably on another disk, to make one every day. To make one by hand, download it here or run${' '}
      <code class="path">svc backup FILE --data-dir ${shellWord(dataDir)}</code>.</p>`,
  )

/** As one word of a shell. */
const shellWord = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

const made = ({ directory, everyHours, keep, backups, running }: BackupsView): Html => html`
  ${card(
    { id: 'plan', title: 'Schedule' },
    html`
      ${details([
        ['Folder', html`<code>${directory}</code>`],
        ['Every', `${everyHours} hours`],
        ['Kept', `the last ${keep}`],
        ['Running', running !== null && html`since ${time(running.startedAt)}`],
      ])}
      <form method="post">${hidden('intent', 'make')} ${button({ label: 'Back up now', kind: 'secondary' })}</form>
    `,
  )}
  ${card(
    { id: 'backups', title: 'Backups' },
    backups.length === 0
      ? html`<p class="muted">None yet.</p>`
      : table<BackupView>({
          caption: 'Backups',
          rows: backups,
          columns: [
            { label: 'File', cell: ({ name }) => html`<code>${name}</code>` },
            { label: 'Size', align: 'end', cell: ({ sizeBytes }) => formatSize(sizeBytes) },
            { label: 'Made', align: 'end', cell: ({ createdAt }) => time(createdAt) },
          ],
        }),
  )}
`
