/* Publishing: folders, several files, drag and drop, and progress, in addition to the zip of the plain form. What was
   dropped or chosen takes the place of the inputs, with Publish and Cancel. Nothing is sent before what is unclear was
   asked. contract 12.9. */

/**
 * What was dropped or chosen. `upload` is missing while it is being read; `isWanted`: Publish was clicked meanwhile.
 *
 * @typedef {{ name: string, isWanted: boolean, upload?: Upload, request?: XMLHttpRequest | undefined }} Picked
 */

const LONE_ARCHIVE = /\.(tar|tar\.gz|tgz)$/i
const UNREADABLE = 'The dropped files could not be read. Use a button to choose them instead.'

class PublishForm {
  /** @type {Picked | undefined} */
  picked

  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form
    this.repository = form.dataset.publish ?? ''
    this.maxFiles = Number(form.dataset.maxFiles)
    /** @type {string[]} */
    this.startPages = JSON.parse(form.dataset.startPages ?? '[]')
    this.zone = partOf(form, '[data-dropzone]')
    this.pickers = partOf(form, '[data-pickers]')
    /** @type {HTMLInputElement} */
    this.zipInput = partOf(form, 'input[name=file]')
    /** @type {HTMLInputElement} */
    this.folderInput = partOf(form, '#folder')
    this.chosen = partOf(form, '[data-chosen]')
    this.target = partOf(form, '[data-target]')
    this.question = partOf(form, '[data-question]')
    this.actions = partOf(form, '[data-actions]')
    /** @type {HTMLButtonElement} */
    this.button = partOf(this.actions, 'button')
    /** Where the buttons are while nothing is picked. */
    this.place = make('div')
    this.actions.before(this.place)
    this.cancel = make('button', { type: 'button', class: 'btn btn-secondary' }, 'Cancel')
  }

  listen() {
    this.cancel.addEventListener('click', () => this.unpick())
    this.form.addEventListener('input', () => this.showTarget())
    this.zipInput.addEventListener('change', () => this.pickLoose([...(this.zipInput.files ?? [])]))
    this.folderInput.addEventListener('change', () => this.pickFolder([...(this.folderInput.files ?? [])]))
    this.zone.addEventListener('dragover', (event) => {
      event.preventDefault()
      this.zone.classList.add('is-over')
    })
    this.zone.addEventListener('dragleave', () => this.zone.classList.remove('is-over'))
    this.zone.addEventListener('drop', (event) => {
      event.preventDefault()
      this.zone.classList.remove('is-over')
      this.pickDropped(droppedRoots(event.dataTransfer))
    })
    this.form.addEventListener('submit', (event) => this.submit(event))
  }

  /** @param {string} name */
  valueOf(name) {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name)).value.trim()
  }

  /** The folder with the site that was typed, empty or ending in a slash. */
  base() {
    const parts = this.valueOf('basePath').split('/')
    return parts.flatMap((part) => (part === '' || part === '.' ? [] : [`${part}/`])).join('')
  }

  /** @param {File[]} files */
  pickLoose(files) {
    const entries = files.map((file) => ({ path: file.name, file }))
    const [first] = entries
    if (first !== undefined)
      this.pick(entries.length === 1 ? first.path : amountOf(entries), async () => uploadOf(entries))
  }

  /** @param {File[]} files */
  pickFolder(files) {
    const entries = files.map((file) => ({ path: file.webkitRelativePath, file }))
    const name = entries[0]?.path.split('/', 1)[0] ?? 'The folder'
    this.pick(name, async () => uploadOf(withoutTop(entries)))
  }

  /** @param {ReturnType<typeof droppedRoots>} roots */
  pickDropped(roots) {
    const [first] = roots
    if (first === undefined) return
    const name = roots.length > 1 ? `${roots.length} things` : (first.entry?.name ?? first.file.name)
    this.pick(name, async (tell) => {
      const { files, leftOut } = await filesOf(roots, tell)
      return uploadOf(files, leftOut)
    })
  }

  /**
   * Shows at once what was picked, and reads it. `read` gets a function to tell how far it is.
   *
   * @param {string} name @param {(tell: (entries: Upload['entries']) => void) => Promise<Upload>} read
   */
  async pick(name, read) {
    if (this.picked?.request !== undefined) return
    /** @type {Picked} */
    const now = { name, isWanted: false }
    this.picked = now
    this.showPicked()
    this.chosen.textContent = `${name}: reading`
    const upload = await read((entries) => {
      if (this.picked === now && !now.isWanted)
        this.chosen.textContent = `${name}: reading, ${amountOf(entries)} so far`
    }).catch(() => undefined)
    if (this.picked !== now) return
    if (upload === undefined) this.unpick(UNREADABLE)
    else if (upload.paths?.length === 0) this.unpick(emptyText(name, upload.isEmpty))
    else this.finish(Object.assign(now, { upload }))
  }

  /** @param {Picked & { upload: Upload }} picked */
  finish({ name, isWanted, upload }) {
    const folder = this.folderTakenAway(upload)
    const taken =
      folder && ` Everything is in the folder ${folder}, which is taken away: what is in it is published.`
    this.chosen.textContent = `${name}: ${sizesOf(upload)}.${taken ?? ''}`
    if (upload.entries.length > this.maxFiles)
      this.refuse(`Too many files: a deployment may have ${this.maxFiles}.`)
    else if (isWanted) this.decide(upload)
  }

  /** The top folder of a zip is taken away without a question. @param {Upload} upload */
  folderTakenAway({ zip, paths }) {
    return zip === undefined || paths === undefined || this.base() !== '' ? undefined : nestedFolder(paths)
  }

  showTarget() {
    const alias = this.valueOf('alias')
    const to = alias === '' ? 'a new deployment, and no address changes' : `the alias ${alias}`
    this.target.textContent = `Goes to ${to} of ${this.repository}.`
  }

  showPicked() {
    this.refuse('')
    this.closeQuestion()
    this.showTarget()
    this.zipInput.required = false
    this.pickers.hidden = true
    this.target.hidden = false
    this.form.classList.add('is-picked')
    this.actions.append(this.cancel)
    this.zone.append(this.actions)
    this.button.focus({ preventScroll: true })
  }

  /** Back to the inputs. */
  unpick(message = '') {
    const { request } = this.picked ?? {}
    this.picked = undefined
    request?.abort()
    this.zipInput.value = ''
    this.folderInput.value = ''
    this.zipInput.required = true
    this.pickers.hidden = false
    this.target.hidden = true
    this.chosen.textContent = ''
    this.closeQuestion()
    this.form.classList.remove('is-picked')
    this.cancel.remove()
    this.place.after(this.actions)
    this.refuse(message)
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    const { picked } = this
    if (picked === undefined) return
    event.preventDefault()
    picked.isWanted = true
    if (picked.upload === undefined)
      this.chosen.textContent = `${picked.name}: reading, and published as soon as it is read`
    else if (picked.request === undefined && picked.upload.entries.length <= this.maxFiles)
      this.decide(picked.upload)
  }

  /** Asks where it is unclear what should go live; else publishes. @param {Upload} upload */
  decide(upload) {
    const { zip, entries, paths } = upload
    const base = this.base()
    if (paths === undefined || paths.includes(base + START_PAGE)) return this.publish(upload)
    if (this.folderTakenAway(upload) !== undefined) return this.publish(upload, { unwrap: 'true' })
    if (zip === undefined && entries.length === 1 && LONE_ARCHIVE.test(paths[0] ?? ''))
      return this.askArchive(upload)
    const deeper = deeperStart(paths, base)
    if (deeper !== undefined) return this.askDeeper(upload, deeper)
    if (this.startPages.includes(this.valueOf('alias').toLowerCase())) return this.askWithout(upload)
    return this.publish(upload)
  }

  /** Of files only those in the folder are sent; a zip is sent whole. @param {Upload} upload @param {string} folder */
  askDeeper(upload, folder) {
    const isCut = upload.zip === undefined && this.base() === ''
    const publishFolder = () =>
      isCut ? this.publish(upload, {}, folder) : this.publish(upload, { basePath: `/${folder.slice(0, -1)}` })
    this.ask(`There is no index.html at the top, but one in ${folder}. Publish ${folder} instead?`, [
      [`Publish ${folder}`, publishFolder],
      ['Publish everything', () => this.publish(upload)],
    ])
  }

  /** @param {Upload} upload */
  askWithout(upload) {
    const text = `${this.valueOf('alias')} shows a start page now, and there is no index.html in what you chose: its address would show no page. Publish it all the same?`
    this.ask(text, [['Publish all the same', () => this.publish(upload)]])
  }

  /** @param {Upload} upload */
  askArchive(upload) {
    const text =
      'This is an archive, and only a zip is unpacked here. Unpack it and drop the folder, or publish the archive itself for download?'
    this.ask(text, [['Publish the archive', () => this.publish(upload, { asFiles: 'true' })]])
  }

  /** @param {string} text @param {[label: string, answer: () => void][]} answers */
  ask(text, answers) {
    const buttons = answers.map(([label, answer], at) =>
      clickable(label, at === 0 ? 'primary' : 'secondary', answer),
    )
    const back = clickable('Cancel', 'quiet', () => this.closeQuestion())
    partOf(this.question, 'p').textContent = text
    partOf(this.question, '.actions').replaceChildren(...buttons, back)
    this.question.hidden = false
    this.actions.hidden = true
    buttons[0]?.focus()
  }

  closeQuestion() {
    if (this.picked !== undefined) this.picked.isWanted = false
    partOf(this.question, 'p').textContent = ''
    this.question.hidden = true
    this.actions.hidden = false
  }

  /**
   * @param {Upload} upload @param {Record<string, string>} [extra] More fields.
   * @param {string} [folder] Only what is in it is sent.
   */
  publish({ zip, entries }, extra = {}, folder = '') {
    this.closeQuestion()
    const [owner = '', repo = ''] = this.repository.split('/')
    const fields = new FormData(this.form)
    fields.delete('file')
    for (const [name, value] of Object.entries({ owner, repo, commitSha: newSha(), ...extra }))
      fields.set(name, value)
    const sent = entries
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path, file }) => ({ path: path.slice(folder.length), file }))
    if (zip === undefined) fields.set('filePaths', JSON.stringify(sent.map(({ path }) => path)))
    for (const { path, file } of sent) fields.append('file', file, path)
    const done = extra['unwrap'] === undefined ? 'published' : 'unwrapped'
    this.send(zip === undefined ? '/api/deployments' : '/api/deployments/zip', fields, done)
  }

  /** @param {string} address @param {FormData} fields @param {string} done */
  send(address, fields, done) {
    this.refuse('')
    this.button.disabled = true
    const request = sendForm(this.form, address, fields, {
      // From here on it can no longer be stopped.
      onSent: () => this.cancel.remove(),
      onPublished: (id) =>
        location.assign(`/projects/${this.form.dataset.project}/deployments/${id}?done=${done}`),
      onFailed: (message) => this.stop(message),
    })
    if (this.picked !== undefined) this.picked.request = request
  }

  /** @param {string} message */
  stop(message) {
    this.button.disabled = false
    if (this.picked === undefined) return
    this.picked.request = undefined
    this.actions.append(this.cancel)
    this.refuse(message)
  }

  /** @param {string} message */
  refuse(message) {
    const box = partOf(this.form, '[data-refused]')
    box.textContent = message
    box.hidden = message === ''
  }
}

each('form[data-publish]', (/** @type {HTMLFormElement} */ form) => {
  /** @type {NodeListOf<HTMLElement>} */
  const scripted = form.querySelectorAll('[data-scripted]')
  for (const hidden of scripted) hidden.hidden = false
  new PublishForm(form).listen()
})
