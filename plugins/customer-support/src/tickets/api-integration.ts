import type { Phrases } from './phrases.ts'

export const apiIntegration: Phrases = {
  slots: {
    call: ['API call', 'request to the API', 'REST request', 'webhook call', 'call from our integration'],
    fails: ['fails with a 401', 'returns 403 forbidden', 'gets unauthorized', 'comes back with a 500', 'times out'],
    client: ['SDK', 'integration', 'webhook', 'script', 'backend', 'Python client', 'connector'],
    key: ['API key', 'access token', 'API token', 'client secret', 'developer key'],
  },
  train: {
    request: [
      'Every {call} {fails} since {date}.',
      'Our {client} stopped talking to your API, each {call} {fails}.',
      'The {key} in our {client} does not seem to be accepted.',
      'We are building a {client} and the endpoint {fails}.',
      'Which header does the {key} go in? My {call} {fails}.',
      'I get an error when the {client} hits the orders endpoint.',
      'Our developer says the {key} is refused by the API.',
      'The {client} worked in the sandbox, but in production the {call} {fails}.',
      'Please check why the API {fails} for our {client}.',
      'Is the API down? My {client} {fails}.',
      'I pasted the {key} into the {client} and the {call} {fails}.',
      'Authentication for the {client} broke, the {call} {fails}.',
      'The JSON response of the endpoint is an error, our {call} {fails}.',
      'Integrating your API: the first {call} {fails}.',
      'Does the {key} expire? The {call} {fails} in production.',
      'According to the API docs this should work, yet the {call} {fails}.',
      'What is wrong with my {call}? The {key} is right.',
      'All endpoints return an error, whatever {key} I send.',
    ],
    detail: [
      'The curl example from the developer docs does the same.',
      'The HTTP status is in our developer console.',
      'Nothing changed in the code of the client.',
      'The endpoint version is v2 and the payload is JSON.',
      'The rate limit header looks fine.',
      'I can share the request id and the response body.',
      'Our bot sends about ten requests a minute.',
    ],
  },
  held: {
    request: [
      'Help with the API please: {call} {fails}, and the docs do not say why.',
      'Our {client} is broken in production, the endpoint {fails}.',
      'Deployed the {client} on {date}, since then the {key} is not accepted.',
      'Does the {key} expire? The {client} {fails} on all endpoints.',
      'I am a developer and my {call} {fails}, any idea?',
      'What could make a {call} return an error when the {key} is right?',
    ],
    detail: [
      'The response body is JSON with an error status.',
      'Same code, same endpoint, same payload as before.',
      'I tried curl with the same header too.',
      'The developer console shows the requests.',
    ],
  },
}
