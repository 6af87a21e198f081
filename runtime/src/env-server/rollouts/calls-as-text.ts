/** What a model is told that calls tools in words. */
export const callsAsText = 'Write one call as text, such as `Action: NAME` or `Action: NAME(parameter=value)`.'
