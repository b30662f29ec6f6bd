import { type Html, html } from '../html.ts'
import { button, buttonClass } from './button.ts'
import { type FormError, field, fieldError, formError } from './field.ts'
import { icon } from './icon.ts'

type PublishPanelProps = {
  projectId: string
  /** `owner/repo`. */
  repository: string
  /** Stands for the commit: what is published from a browser has none. A new one for each form. */
  commitSha: string
  alias?: string | undefined
  description?: string | undefined
  basePath?: string | undefined
  error?: FormError | undefined
}

/**
 * Publishing from the browser. Without scripts a form that sends a zip; with them folders, many files and drag and
 * drop, with progress (assets/app.js, `data-publish`).
 */
export const publishPanel = (props: PublishPanelProps): Html => html`
  <form
    method="post"
    enctype="multipart/form-data"
    class="stack"
    action=${formAddress(props)}
    data-publish=${props.repository}
    data-project=${props.projectId}
  >
    ${formError(props.error)}
    <div class="dropzone" data-dropzone>
      ${icon('upload')}
      <p data-scripted hidden><strong>Drop a folder, files or a zip here</strong></p>
      <div class="field">
        <label for="file">Zip archive of the site</label>
        <p class="hint" id="file-hint">With <code>index.html</code> at its top, not inside a folder.</p>
        <input id="file" type="file" name="file" accept=".zip,application/zip" aria-describedby="file-hint" required />
      </div>
      <div data-scripted hidden>
        <label class=${buttonClass('secondary')} for="folder">Choose a folder</label>
        <input id="folder" class="visually-hidden" type="file" webkitdirectory multiple />
      </div>
      <p class="muted" data-chosen role="status"></p>
    </div>
    <div class="columns">
      ${field({
        name: 'alias',
        label: 'Alias to point at it',
        hint: 'The site appears at its address. Empty: no address changes.',
        value: props.alias ?? 'production',
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'alias') ?? fieldError(props.error, 'name'),
        verbatim: true,
      })}
      ${field({
        name: 'description',
        label: 'What is new',
        hint: 'For the list of deployments.',
        value: props.description,
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'description'),
      })}
    </div>
    <details class="more" open=${Boolean(props.basePath)}>
      <summary>The site is in a folder of the archive</summary>
      ${field({
        name: 'basePath',
        label: 'Folder that is the site',
        hint: html`Such as <code>/dist</code>, where the archive holds more than the site.`,
        value: props.basePath,
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'basePath'),
        verbatim: true,
      })}
    </details>
    <div class="progress" data-progress hidden>
      <label for="sent">Sending</label><span class="muted" data-sent></span>
      <progress id="sent" max="100" value="0"></progress>
    </div>
    <div class="notice notice-bad" role="alert" data-refused hidden></div>
    <div class="actions">${button({ label: 'Publish' })}</div>
  </form>
`

const formAddress = ({ projectId, repository, commitSha }: PublishPanelProps): string =>
  `/projects/${projectId}/publish?${new URLSearchParams({ repository, commitSha })}`

/** Stays until the first deployment is there: a script looks by itself, the link does without. */
export const waitingForFirst = (projectId: string): Html => html`
  <p class="waiting" data-wait-for=${projectId}>
    <span class="pulse" aria-hidden="true"></span>
    <span role="status">Waiting for the first deployment.</span>
    <a href=${`/projects/${projectId}`}>Look again</a>
  </p>
`
