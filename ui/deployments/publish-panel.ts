import { button, buttonClass } from '../components/button.ts'
import { checkbox, type FormError, field, fieldError, formError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { icon } from '../components/icon.ts'

type PublishPanelProps = {
  projectId: string
  /** `owner/repo`. */
  repository: string
  /** Takes the place of a commit, which an upload from the browser does not have. Each form gets a new one. */
  commitSha: string
  /** The most files that a deployment may have. */
  maxFiles: number
  /** Aliases that show a start page, in lower case: one without would take its place. */
  startPages: readonly string[]
  alias?: string | undefined
  description?: string | undefined
  basePath?: string | undefined
  error?: FormError | undefined
}

/**
 * Publishes from the browser. Without scripts the form sends a zip. With scripts it also takes folders, many files and
 * drag and drop, asks what is unclear before anything goes live, and shows progress (islands/publish.js).
 */
export const publishPanel = (props: PublishPanelProps): Html => html`
  <form
    method="post"
    enctype="multipart/form-data"
    class="stack"
    action=${formAddress(props)}
    data-publish=${props.repository}
    data-project=${props.projectId}
    data-max-files=${props.maxFiles}
    data-start-pages=${JSON.stringify(props.startPages)}
  >
    ${formError(props.error)}
    <div class="dropzone" data-dropzone>
      ${icon('upload')}
      <div class="pickers" data-pickers>
        <div data-scripted hidden>
          <p><strong>Drop a folder, files or a zip here</strong></p>
          <p class="muted">or choose</p>
        </div>
        <div class="field">
          <label for="file">Zip archive of the site</label>
          <p class="hint" id="file-hint">With <code>index.html</code> at the top level, or in the only folder there.</p>
          <input id="file" type="file" name="file" accept=".zip,application/zip" aria-describedby="file-hint whole-hint" required />
        </div>
        <div data-scripted hidden>
          <label class=${buttonClass('secondary')} for="folder">Choose a folder</label>
          <input id="folder" class="visually-hidden" type="file" webkitdirectory multiple aria-describedby="whole-hint" />
        </div>
      </div>
      <p data-chosen role="status"></p>
      <p class="muted" data-target hidden></p>
      <div class="stack" role="group" aria-labelledby="publish-question" data-question hidden>
        <p id="publish-question"></p>
        <div class="actions"></div>
      </div>
    </div>
    <p class="hint" id="whole-hint">
      What you publish replaces the whole site: choose the folder with everything in it.
    </p>
    <div class="columns">
      ${field({
        name: 'alias',
        label: 'Alias',
        hint: 'The site appears at its address. Empty: no address changes.',
        value: props.alias ?? 'production',
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'alias') ?? fieldError(props.error, 'name'),
        verbatim: true,
      })}
      ${field({
        name: 'description',
        label: 'Description',
        hint: 'What is new. Shown in the list of deployments.',
        value: props.description,
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'description'),
      })}
    </div>
    <details class="more" open=${Boolean(props.basePath)}>
      <summary>The site is in a subfolder of the archive</summary>
      ${field({
        name: 'basePath',
        label: 'Folder with the site',
        hint: html`Such as <code>/dist</code>, if the archive contains more than the site.`,
        value: props.basePath,
        required: false,
        isPlain: true,
        error: fieldError(props.error, 'basePath'),
        verbatim: true,
      })}
    </details>
    ${checkbox({
      name: 'force',
      label: 'Release even if checks fail',
      hint: html`What is checked: <a href=${`/projects/${props.projectId}/release-checks`}>Release checks</a>. What failed is named.`,
    })}
    <div class="progress" data-progress hidden>
      <label for="sent">Sending</label><span class="muted" data-sent></span>
      <progress id="sent" max="100" value="0"></progress>
    </div>
    <div class="notice notice-bad" role="alert" data-refused hidden></div>
    <div class="actions" data-actions>${button({ label: 'Publish' })}</div>
  </form>
`

const formAddress = ({ projectId, repository, commitSha }: PublishPanelProps): string =>
  `/projects/${projectId}/publish?${new URLSearchParams({ repository, commitSha })}`

/** Shown until the first deployment arrives. A script checks for it; without scripts the link does. */
export const waitingForFirst = (projectId: string): Html => html`
  <p data-wait-for=${projectId}>
    <span class="pulse" aria-hidden="true"></span>
    <span role="status">Waiting for the first deployment.</span>${' '}
    <a href=${`/projects/${projectId}`}>Check again</a>
  </p>
`
