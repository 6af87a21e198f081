import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { svg, svgMarkup } from '@agentgym/pictures'
import { build } from 'esbuild'
import { pictureRules } from '../playing/episode-lines.ts'
import { colorRules } from './picture-colors.ts'
import type { Recording } from './record-episode.ts'

const pageRules = `
:root { --sans: system-ui, sans-serif; --mono: ui-monospace, "Cascadia Mono", monospace; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 24px; background: var(--paper); color: var(--ink); font: 16px/1.5 var(--sans); }
h1 { margin: 0 0 4px; font-size: 20px; }
h2 { margin: 0 0 8px; font-size: 16px; }
.about, .facts { color: var(--dim); font-size: 14px; margin: 0 0 16px; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 16px; }
.panel { margin: 0; padding: 16px; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
.panels > .panel:only-child { max-width: 720px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 8px 0; font-size: 14px; }
dt { color: var(--dim); }
dd { margin: 0; font-family: var(--mono); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; min-height: 1.5em; }
.likely { list-style: none; margin: 8px 0 0; padding: 0; min-height: 6em; font: 14px/1.5 var(--mono); }
.likely li { display: grid; grid-template-columns: 1fr 8em 3em; gap: 8px; align-items: center; }
.likely meter { width: 100%; }
.controls { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; position: sticky; bottom: 0; padding: 12px 0; background: var(--paper); }
.controls input { flex: 1; min-width: 80px; accent-color: var(--accent); }
button, select { font: inherit; padding: 4px 12px; color: var(--ink); background: var(--raised); border: 1px solid var(--line-strong); border-radius: 6px; }
#at { font-family: var(--mono); font-variant-numeric: tabular-nums; min-width: 7em; text-align: end; }
`

export type PageHead = { title: string; about: string }

/** A page that plays the episodes. It holds all that it needs, and its policy lets it load nothing. */
export async function htmlOf(recordings: readonly Recording[], { title, about }: PageHead): Promise<string> {
  const script = await playerScript()
  const rules = [colorRules(), pictureRules(), pageRules].join('\n')
  const policy = `default-src 'none'; style-src '${hashOf(rules)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`
  // A `<` ends no script, whatever a scenario's texts say.
  const data = JSON.stringify(recordings.map(({ player, episode }) => ({ player, episode }))).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${text('title', title)}
<style>${rules}</style>
</head>
<body>
${text('h1', title)}
${text('p', about, 'about')}
<main class="panels">
${recordings.map(panel).join('\n')}
</main>
<div class="controls">
<button id="play" type="button">Play</button>
<input id="scrub" type="range" min="0" max="1" step="1" value="0" aria-label="Step">
<output id="at"></output>
<label>Speed <select id="speed"><option value="0.25">0.25×</option><option value="0.5">0.5×</option><option value="1" selected>1×</option><option value="2">2×</option><option value="4">4×</option></select></label>
</div>
<script type="application/json" id="recordings">${data}</script>
<script>${script}</script>
</body>
</html>
`
}

function panel({ player, metrics, trajectoryHash }: Recording): string {
  const facts = Object.entries(metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
  return `<figure class="panel">
${text('h2', player)}
<div class="stage"></div>
<dl><dt>Action</dt><dd class="action"></dd><dt>Reward</dt><dd class="reward"></dd><dt>Return</dt><dd class="return"></dd></dl>
<div class="rewards"></div>
<ol class="likely"></ol>
${text('figcaption', [...facts, `trajectory ${trajectoryHash.slice(0, 12)}`].join(' · '), 'facts')}
</figure>`
}

/** An element with a text, which is escaped. */
function text(name: string, shown: string, className?: string): string {
  return svgMarkup(svg(name, { class: className }, shown))
}

function hashOf(content: string): string {
  return `sha256-${createHash('sha256').update(content).digest('base64')}`
}

async function playerScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./player/player.ts', import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'silent',
  })
  return outputFiles[0].text.trim().replaceAll('</script', '<\\/script')
}
