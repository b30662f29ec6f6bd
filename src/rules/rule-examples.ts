import { CONTACT_FORM, contactRuleText } from './contact-form.ts'

export type RuleExample = { id: string; title: string; description: string; yaml: string }

/** The start of a pipeline that reads a form, with the fields to follow. */
const FEW_FORMS = `  validators:
    - type: rate_limit
      config: { limit: 5, windowSeconds: 60, keyBy: ip }
  steps:
    - id: form
      handler: form_handler
      config:
        fields:
`

/** Rules to start from, each a whole one. contract 17.5. */
export const RULE_EXAMPLES: readonly RuleExample[] = [
  {
    id: 'contact-form',
    title: 'Contact form',
    description: 'Stores what a form sends and leads on to a page. Make the schema messages first.',
    yaml: contactRuleText(CONTACT_FORM),
  },
  {
    id: 'list-records',
    title: 'List records',
    description: 'Answers with the newest records of a schema as JSON. Only the fields of select are shown.',
    yaml: `description: The newest messages as JSON
pathPattern: /api/messages
methods: [GET]
pipeline:
  name: list messages
  steps:
    - id: messages
      handler: data_query
      config:
        schemaId: $schema:messages
        select: [name, message]
        orderBy: { field: createdAt, direction: desc }
        pageSize: 20
    - id: answer
      handler: response_handler
      config:
        body: '{{{steps.messages}}}'
`,
  },
  {
    id: 'count',
    title: 'Count',
    description: 'Answers with how many records a schema has.',
    yaml: `description: How many messages there are
pathPattern: /api/messages/count
methods: [GET]
pipeline:
  name: count messages
  steps:
    - id: count
      handler: aggregate_handler
      config:
        schemaId: $schema:messages
        operation: count
    - id: answer
      handler: response_handler
      config:
        body: '{ "count": {{steps.count}} }'
`,
  },
  {
    id: 'call-an-api',
    title: 'Call an API',
    description: 'Asks another server with a key that visitors never see. Set the secret API_KEY first.',
    yaml: `description: The weather, without showing the key
pathPattern: /api/weather
methods: [GET]
pipeline:
  name: ask for the weather
  validators:
    - type: rate_limit
      config: { limit: 30, windowSeconds: 60, keyBy: ip }
  steps:
    - id: call
      handler: http_request
      config:
        url: https://api.example.com/weather
        headers:
          authorization: 'Bearer {{secrets.API_KEY}}'
        timeout: 5000
    - id: answer
      handler: response_handler
      config:
        body: '{{{steps.call.body}}}'
`,
  },
  {
    id: 'send-mail',
    title: 'Send a mail',
    description: 'Mails what a form sends. The server needs a mail server: ask its operator.',
    yaml: `description: Mails what the form sends
pathPattern: /api/ask
methods: [POST]
pipeline:
  name: ask us
${FEW_FORMS}          email: { type: email, required: true }
          message: { type: string, required: true, max: 5000 }
        honeypotField: website
    - id: mail
      handler: email_handler
      config:
        to: hello@example.com
        subject: A question from the site
        body: '{{steps.form.message}}'
        replyTo: steps.form.email
    - id: answer
      handler: response_handler
      config:
        status: 303
        headers: { location: /thanks }
`,
  },
  {
    id: 'password-gate',
    title: 'Ask for a password',
    description: 'Shows something only to who knows a password. Set the secret SITE_PASSWORD first.',
    yaml: `description: Shows the address to who knows the password
pathPattern: /api/open
methods: [POST]
pipeline:
  name: ask for the password
${FEW_FORMS}          password: { type: string, required: true, max: 200 }
    - id: known
      handler: function_handler
      config:
        args: { given: steps.form.password, right: secrets.SITE_PASSWORD }
        # How long two hashes take to compare tells nothing of the right one.
        code: |
          const handler = ({ args: { given, right }, utils }) =>
            right !== null && utils.sha256(given) === utils.sha256(right)
    - id: refuse
      handler: response_handler
      config:
        condition: '!steps.known'
        status: 401
        contentType: text/html
        body: '<p>That is not the password.</p>'
    - id: show
      handler: response_handler
      config:
        contentType: text/html
        body: '<p>We meet at 12 Garden Street.</p>'
`,
  },
]
