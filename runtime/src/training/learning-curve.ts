import * as echarts from 'echarts'
import type { CurvePoint } from './run-statistics.ts'

/** Draws the learning curve as SVG: the return in Okabe–Ito blue, the target as a dashed line. Same input, same bytes. */
export function drawLearningCurve(curve: CurvePoint[], options: { title: string; target: number | null }): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 720, height: 360 })
  const ink = '#4a4a4a'
  const font = 'Inter, system-ui, sans-serif'
  const points = curve.filter((point) => point.return_mean !== null).map((point) => [point.steps, point.return_mean])
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: font, color: ink },
    title: {
      text: options.title,
      left: 16,
      top: 12,
      textStyle: { fontFamily: font, fontSize: 14, fontWeight: 600, color: '#1a1a1a' },
    },
    grid: { left: 72, right: 24, top: 56, bottom: 56 },
    xAxis: {
      type: 'value',
      name: 'environment steps',
      nameLocation: 'middle',
      nameGap: 32,
      max: curve.at(-1)?.steps,
      axisLabel: { formatter: formatSteps },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      name: 'return, mean of the last 100 episodes',
      nameLocation: 'middle',
      nameGap: 48,
      scale: true,
      splitLine: { lineStyle: { color: '#ececec' } },
    },
    series: [
      // Invisible: a target that the run has not reached must still be inside the picture.
      {
        type: 'line',
        silent: true,
        symbol: 'none',
        lineStyle: { opacity: 0 },
        data: options.target === null ? [] : [[0, options.target]],
      },
      {
        type: 'line',
        showSymbol: points.length === 1,
        data: points,
        lineStyle: { color: '#0072B2', width: 2 },
        itemStyle: { color: '#0072B2' },
        markLine:
          options.target === null
            ? undefined
            : {
                silent: true,
                symbol: 'none',
                lineStyle: { color: '#D55E00', type: 'dashed', width: 1.5 },
                label: { formatter: `target ${options.target}`, position: 'insideStartTop', color: '#D55E00' },
                data: [{ yAxis: options.target }],
              },
      },
    ],
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

function formatSteps(steps: number): string {
  if (steps >= 1e6) return `${steps / 1e6}M`
  if (steps >= 1e3) return `${steps / 1e3}k`
  return String(steps)
}
