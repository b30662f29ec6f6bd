/* A new password is typed once, so that it can be looked at. Pages to sign in and up have no other script. */

for (const place of document.querySelectorAll('[data-new-password]')) {
  const input = /** @type {HTMLInputElement} */ (place.querySelector('input'))
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'btn btn-quiet btn-small'
  button.textContent = 'Show password'
  button.setAttribute('aria-controls', input.id)
  const show = (/** @type {boolean} */ isShown) => {
    input.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  }
  show(false)
  button.addEventListener('click', () => show(input.type === 'password'))
  // Browsers offer to save what was typed as a password, and remember the text of other fields.
  input.form?.addEventListener('submit', () => show(false))
  place.append(button)
}
