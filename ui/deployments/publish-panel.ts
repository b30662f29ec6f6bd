import { button, buttonClass } from '../components/button.ts'
import { checkbox, type FormError, field, fieldError, formError, hidden } from '../components/field.ts'
import { type Content, type Html, html, PAGE_ID } from '../components/html.ts'
import { icon } from '../components/icon.ts'

/** What an alias shows: its name there, such as `#2 Title`, and whether it has a start page. */
export type Shown = { name: string; hasStartPage: boolean }

/** Where the panel publishes to. */
type Target =
  /** `shows`: by the names of its aliases in lower case. */
  | { kind: 'project'; id: string; repository: string; shows: Readonly<Record<string, Shown>> }
  /** A project that the publish makes. `owner` is proposed. */
  | { kind: 'new'; owner: string }

export type PublishPanelProps = {
  target: Target
  /** Takes the place of a commit, which an upload from the browser does not have. Each form gets a new one. */
  commitSha: string
  /** The most files that a deployment may have. */
  maxFiles: number
  /** What was typed, where the form was refused. */
  values?: Readonly<Record<string, string>> | undefined
  error?: FormError | undefined
}

/**
 * Publishes from the browser, to a project or to a new one. Without scripts the form sends a zip, and asks what is unclear
 * afterwards. With scripts it also takes folders, many files and drag and drop, asks before anything is sent, and shows
 * progress (islands/publish.js). contract 17.3.
 */
export const publishPanel = (props: PublishPanelProps): Html => html`
  <section class="card" aria-label="Publish" data-dropzone>
    <form
      method="post"
      enctype="multipart/form-data"
      class="stack"
      action=${addressOf(props)}
      data-publish
      data-repository=${props.target.kind === 'project' ? props.target.repository : undefined}
      data-project=${props.target.kind === 'project' ? props.target.id : undefined}
      data-max-files=${props.maxFiles}
      data-shows=${props.target.kind === 'project' ? JSON.stringify(props.target.shows) : undefined}
    >
      ${formError(props.error)} ${hidden('ask', 'true')} ${props.target.kind === 'new' && hidden(PAGE_ID, 'new')}
      ${props.target.kind === 'new' && newProject(props.target.owner, props)}
      ${pickers} ${ready} ${about(props)}
      <div class="progress" data-progress hidden>
        <label for="sent">Sending</label><span class="muted" data-sent></span>
        <progress id="sent" max="100" value="0"></progress>
      </div>
      <div class="notice notice-bad" role="alert" data-refused hidden></div>
      <div class="actions" data-actions>
        ${button({ label: 'Publish' })} ${props.target.kind === 'new' && createOnly}
      </div>
    </form>
  </section>
`

const addressOf = ({ target, commitSha }: PublishPanelProps): string =>
  target.kind === 'project'
    ? `/projects/${target.id}/publish?${new URLSearchParams({ repository: target.repository, commitSha })}`
    : `/projects/new?${new URLSearchParams({ commitSha })}`

/** Sends the names alone. */
const createOnly: Html = html`
  <button
    type="submit"
    class=${buttonClass('secondary')}
    name="intent"
    value="create-project"
    formaction="/projects/new"
    formenctype="application/x-www-form-urlencoded"
    formnovalidate
    data-create
  >Create project</button>
`

const newProject = (owner: string, { values, error }: PublishPanelProps): Html => html`
  <div class="columns">
    ${nameField({
      name: 'owner',
      label: 'Owner',
      hint: 'Your name or that of your team, without spaces.',
      value: values?.['owner'] ?? owner,
      error: fieldError(error, 'owner'),
    })}
    ${nameField({
      name: 'repo',
      label: 'Name',
      hint: html`Both are part of the address: <code class="path">production--NAME--OWNER</code>`,
      value: values?.['repo'] ?? 'site',
      error: fieldError(error, 'repo') ?? fieldError(error, 'name'),
    })}
  </div>
  <fieldset class="choices">
    <legend>Who can see it</legend>
    ${radio('isPublic', 'true', 'Anyone with the address', values?.['isPublic'] === 'true')}
    ${radio('isPublic', 'false', 'Only people I invite', values?.['isPublic'] !== 'true')}
  </fieldset>
`

type NameProps = {
  name: string
  label: string
  hint: Content
  value: string | undefined
  error: string | undefined
}

const nameField = (props: NameProps): Html =>
  field({ ...props, pattern: '[A-Za-z0-9._\\-]{1,100}', verbatim: true })

const radio = (name: string, value: string, label: string, checked: boolean): Html => html`
  <div class="check">
    <input type="radio" id=${`${name}-${value}`} name=${name} value=${value} checked=${checked} />
    <div><label for=${`${name}-${value}`}>${label}</label></div>
  </div>
`

const pickers: Html = html`
  <div class="dropzone">
    ${icon('upload')}
    <div class="pickers" data-pickers>
      <div data-scripted hidden>
        <p><strong>Drop a folder, files or a zip here</strong></p>
        <p class="muted">It replaces the whole site: choose the folder with everything in it.</p>
      </div>
      <div data-scripted hidden>
        <label class=${buttonClass('secondary')} for="folder">Choose a folder</label>
        <input id="folder" class="visually-hidden" type="file" webkitdirectory multiple />
      </div>
      <div class="field">
        <label for="file">Choose a zip</label>
        <input id="file" type="file" name="file" accept=".zip,application/zip" required />
      </div>
    </div>
    <p data-chosen role="status"></p>
  </div>
`

/** What was chosen, in the place of the inputs. A script fills it. */
const ready: Html = html`
  <section class="stack" aria-label="Ready to publish" data-ready hidden>
    <p><strong data-what></strong></p>
    <p class="muted" data-replaces></p>
    <p class="muted" data-taken></p>
    <fieldset class="choices" data-folders hidden>
      <legend>Which folder is the site?</legend>
    </fieldset>
    <div class="check" data-consent hidden>
      <input type="checkbox" id="consent" /><div><label for="consent"></label></div>
    </div>
  </section>
`

const about = ({ values, error, target }: PublishPanelProps): Html => html`
  <div class="columns">
    ${field({
      name: 'alias',
      label: 'Alias',
      hint: 'The site appears at its address. Empty: no address changes.',
      value: values?.['alias'] ?? 'production',
      required: false,
      isPlain: true,
      error: fieldError(error, 'alias'),
      verbatim: true,
    })}
    ${field({
      name: 'description',
      label: 'Description',
      hint: 'What is new. Its first line is the title of the deployment.',
      value: values?.['description'],
      required: false,
      isPlain: true,
      error: fieldError(error, 'description'),
    })}
  </div>
  <details class="more" open=${Boolean(values?.['basePath'])}>
    <summary>More</summary>
    ${field({
      name: 'basePath',
      label: 'Folder with the site',
      hint: html`Such as <code>/dist</code>, if the archive contains more than the site.`,
      value: values?.['basePath'],
      required: false,
      isPlain: true,
      error: fieldError(error, 'basePath'),
      verbatim: true,
    })}
    ${
      target.kind === 'project' &&
      checkbox({
        name: 'force',
        label: 'Release even if checks fail',
        hint: html`What is checked: <a href=${`/projects/${target.id}/release-checks`}>Release checks</a>. What failed is named.`,
      })
    }
  </details>
`

/** Shown until the first deployment arrives. A script checks for it; without scripts the link does. */
export const waitingForFirst = (projectId: string): Html => html`
  <p data-wait-for=${projectId}>
    <span class="pulse" aria-hidden="true"></span>
    <span role="status">Waiting for the first deployment.</span>${' '}
    <a href=${`/projects/${projectId}`}>Check again</a>
  </p>
`
