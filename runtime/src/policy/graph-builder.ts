import { FLOAT, INT64, type OnnxGraph, type OnnxNode, type OnnxTensor } from './onnx-model.ts'

/** Collects a graph's parts. Names of everything that is no input or output start with a slash, which no leaf's does. */
export class GraphBuilder {
  readonly #name: string
  readonly #nodes: OnnxNode[] = []
  readonly #initializers = new Map<string, OnnxTensor>()
  readonly #inputs: OnnxGraph['inputs'] = []
  readonly #outputs: OnnxGraph['outputs'] = []

  constructor(name: string) {
    this.#name = name
  }

  input(name: string, dims: (number | string)[]): void {
    this.#inputs.push({ name, dims })
  }

  output(name: string, dims: (number | string)[]): void {
    this.#outputs.push({ name, dims })
  }

  node(op: string, inputs: string[], output: string, attributes: OnnxNode['attributes'] = {}): string {
    this.#nodes.push({ op, inputs, outputs: [output], attributes })
    return output
  }

  floats(name: string, dims: number[], data: Float32Array): string {
    this.#initializers.set(name, { name, dims, type: FLOAT, data })
    return name
  }

  scalar(name: string, value: number): string {
    return this.floats(name, [], Float32Array.of(value))
  }

  integers(name: string, values: number[]): string {
    this.#initializers.set(name, { name, dims: [values.length], type: INT64, data: BigInt64Array.from(values, BigInt) })
    return name
  }

  /** Columns [offset, offset + size) of a matrix. */
  slice(x: string, offset: number, size: number, output: string): string {
    const bounds = [offset, offset + size].map((column) => this.integers(`/column.${column}`, [column]))
    return this.node('Slice', [x, ...bounds, this.integers('/axis.1', [1])], output)
  }

  /** [batch, 1] → [batch] */
  squeeze(x: string, output: string): string {
    return this.node('Squeeze', [x, this.integers('/axis.1', [1])], output)
  }

  build(): OnnxGraph {
    return {
      name: this.#name,
      nodes: this.#nodes,
      initializers: [...this.#initializers.values()],
      inputs: this.#inputs,
      outputs: this.#outputs,
    }
  }
}
