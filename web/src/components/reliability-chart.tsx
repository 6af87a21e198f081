import { type Calibration, chanceText, type Reliability } from '@agentgym/contract'
import { lineClass } from '../pictures/line-plot.ts'

/** In pixels: labels keep their size, so the chart is one size on every screen. */
const SIZE = 312
const PLOT = { left: 44, right: SIZE - 20, top: 28, bottom: SIZE - 48 }
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
const RADIUS = { least: 2.5, most: 9 }

const x = (chance: number) => round(PLOT.left + chance * (PLOT.right - PLOT.left))
const y = (chance: number) => round(PLOT.bottom - chance * (PLOT.bottom - PLOT.top))
const percent = (chance: number) => `${Math.round(100 * chance)}%`

type Curve = { name: string; reliability: Reliability }

/** Confidence first, if the agent has one; then the policy's own probability. */
export function reliabilityCurves({ confidence, probability }: Calibration): Curve[] {
  const raw = { name: 'Raw probability', reliability: probability }
  return confidence === null ? [raw] : [{ name: 'Confidence', reliability: confidence }, raw]
}

/** How often choices were right, by the chance that was predicted. On the diagonal, predictions come true as often as they say. */
export function ReliabilityChart({ calibration }: { calibration: Calibration }) {
  const curves = reliabilityCurves(calibration)
  return (
    <figure class="chart reliability">
      <figcaption class="chart-head">
        <ul class="chart-legend">
          {curves.map(({ name }, index) => (
            <li>
              <svg width="24" height="10" aria-hidden="true">
                <line class={lineClass(index)} x1="0" x2="24" y1="5" y2="5" />
                <Mark index={index} x={12} y={5} radius={3.5} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        class="reliability-plot"
        viewBox={`0 0 ${SIZE} ${SIZE}`}
        width={SIZE}
        height={SIZE}
        role="img"
        aria-label={`Reliability curve. ${curves.map(describe).join(' ')}`}
      >
        <Axes />
        <line class="reliability-ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
        {curves.toReversed().map(({ reliability: { bins } }, at) => {
          const index = curves.length - 1 - at
          return (
            <>
              <polyline
                class={lineClass(index)}
                points={bins.map((bin) => `${x(bin.predicted)},${y(bin.succeeded / bin.choices)}`).join(' ')}
              />
              {bins.map((bin) => (
                <Mark
                  index={index}
                  x={x(bin.predicted)}
                  y={y(bin.succeeded / bin.choices)}
                  radius={radiusOf(bin.choices / calibration.choices)}
                />
              ))}
            </>
          )
        })}
      </svg>
    </figure>
  )
}

function Axes() {
  return (
    <>
      {TICKS.map((tick) => (
        <>
          <line class="chart-grid" x1={PLOT.left} x2={PLOT.right} y1={y(tick)} y2={y(tick)} />
          <text class="reliability-label" x={PLOT.left - 8} y={y(tick) + 4} text-anchor="end">
            {percent(tick)}
          </text>
          <text class="reliability-label" x={x(tick)} y={PLOT.bottom + 18} text-anchor="middle">
            {percent(tick)}
          </text>
        </>
      ))}
      <text class="reliability-label" x={(PLOT.left + PLOT.right) / 2} y={SIZE - 8} text-anchor="middle">
        predicted chance
      </text>
      <text class="reliability-label" x={0} y={12}>
        right
      </text>
    </>
  )
}

/** A circle, or a square: distinguishable without color. */
function Mark({ index, x, y, radius }: { index: number; x: number; y: number; radius: number }) {
  const shape = `reliability-mark reliability-mark-${index + 1}`
  return index === 0 ? (
    <circle class={shape} cx={x} cy={y} r={radius} />
  ) : (
    <rect class={shape} x={round(x - radius)} y={round(y - radius)} width={2 * radius} height={2 * radius} />
  )
}

/** By the share of the choices: areas are proportional. */
function radiusOf(share: number): number {
  return round(Math.max(RADIUS.least, RADIUS.most * Math.sqrt(share)))
}

function describe({ name, reliability: { bins } }: Curve): string {
  const points = bins.map(({ predicted, succeeded, choices }) => {
    return `${chanceText(predicted)} predicted, ${chanceText(succeeded / choices)} right`
  })
  return `${name}: ${points.join('; ')}.`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
