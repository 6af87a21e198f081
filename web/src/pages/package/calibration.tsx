import { type Calibration, chanceText, type Evaluation, mostOften, type Reliability } from '@agentgym/contract'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { ReliabilityChart, reliabilityCurves } from '../../components/reliability-chart.tsx'
import { type Column, Table } from '../../components/table.tsx'

/** What an agent's probabilities mean; nothing for an evaluation that did not measure it. */
export function CalibrationPart({ evaluation: { calibration } }: { evaluation: Pick<Evaluation, 'calibration'> }) {
  if (calibration === undefined) return null
  const { confidence, probability, choices } = calibration
  const shown = confidence ?? probability
  const { predicted, right } = mostOften(shown)
  return (
    <div class="package-calibration">
      <h3>Calibration</h3>
      <Metrics>
        <Metric
          label={confidence === null ? 'Most frequent probability' : 'Most frequent confidence'}
          note={`right in ${chanceText(right)}`}
        >
          {chanceText(predicted)}
        </Metric>
        <Metric
          label="Calibration error"
          note={confidence === null ? 'of the raw probability' : `raw probability ${errorText(probability)}`}
        >
          {errorText(shown)}
        </Metric>
        <Metric label="Choices" note="right if the episode was solved">
          {choices.toLocaleString('en')}
        </Metric>
      </Metrics>
      <div class="package-reliability">
        <ReliabilityChart calibration={calibration} />
        <div>
          <p>
            How often choices were right, by the chance predicted for them. On the dashed diagonal, predictions come
            true as often as they say. Larger marks stand for more choices.
          </p>
          {confidence === null && (
            <p class="dim">
              This agent is not calibrated: its probabilities say how often it would pick a choice, not how often that
              works.
            </p>
          )}
          <details>
            <summary class="package-more">Values</summary>
            {reliabilityCurves(calibration).map(({ name, reliability }) => (
              <>
                <p class="package-label">{name}</p>
                <Table rows={reliability.bins} columns={columns} caption={`Reliability of the ${name.toLowerCase()}`} />
              </>
            ))}
          </details>
        </div>
      </div>
    </div>
  )
}

type Bin = Calibration['probability']['bins'][number]
const columns: Column<Bin>[] = [
  { title: 'Predicted', heading: true, numeric: true, cell: ({ predicted }) => chanceText(predicted) },
  { title: 'Right', numeric: true, cell: ({ succeeded, choices }) => chanceText(succeeded / choices) },
  { title: 'Choices', numeric: true, cell: ({ choices }) => choices.toLocaleString('en') },
]

function errorText({ ece }: Reliability): string {
  return `${(100 * ece).toFixed(1)}%`
}
