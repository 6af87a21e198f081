// The only script of the frame's document, which has an origin of its own, no network and no storage. It starts one worker
// with the script that the page sends, and passes text between the two: what breaks the protocol ends the worker.

/** Longest text that a worker may send: a step of the largest scene and observation takes less. */
const longestText = 4_194_304

addEventListener('message', start, { once: true })

/** The page's first and only message: a script, and the port for everything after it. */
function start({ source, data, ports: [port] }: MessageEvent): void {
  if (source !== parent || typeof data !== 'string' || port === undefined) return
  const script = URL.createObjectURL(new Blob([data], { type: 'text/javascript' }))
  const worker = new Worker(script)
  /** Replies that the page waits for. The first is the worker's own: it has started. */
  let owed = 1
  const end = (reason: 'protocol' | 'crashed') => {
    worker.terminate()
    port.postMessage({ ended: reason })
    port.close()
  }
  worker.addEventListener('message', ({ data: reply }) => {
    if (owed === 0 || typeof reply !== 'string' || reply.length > longestText) return end('protocol')
    owed -= 1
    port.postMessage(reply)
  })
  worker.addEventListener('error', () => end('crashed'))
  worker.addEventListener('messageerror', () => end('protocol'))
  port.addEventListener('message', ({ data: request }) => {
    owed += 1
    worker.postMessage(request)
  })
  port.start()
}
