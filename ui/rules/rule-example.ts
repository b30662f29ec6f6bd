/** A complete pipeline that is short enough to read at a glance. */
export const PIPELINE_EXAMPLE = JSON.stringify(
  {
    name: 'say hello',
    validators: [{ type: 'rate_limit', config: { limit: 10, windowSeconds: 60, keyBy: 'ip' } }],
    steps: [
      {
        id: 'form',
        handlerType: 'form_handler',
        config: { fields: { name: { type: 'string', required: true, max: 100 } } },
      },
      {
        id: 'answer',
        handlerType: 'response_handler',
        config: { status: 200, body: '{ "hello": "{{steps.form.name}}" }' },
      },
    ],
  },
  null,
  2,
)
