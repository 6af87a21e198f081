import { describe, expect, it } from 'vitest'
import { refuseWithProcesses, togetherOf } from './train-processes.ts'

describe('togetherOf', () => {
  it('reads processes and the machines that meet', () => {
    expect(togetherOf({})).toBeUndefined()
    expect(togetherOf({ processes: 1 })).toBeUndefined()
    expect(togetherOf({ processes: 4 })).toEqual({ processes: 4 })
    expect(togetherOf({ rendezvous: 'gym-0.example:29500', nodes: 2, nodeRank: 1, processes: 3 })).toEqual({
      processes: 3,
      rendezvous: { address: 'gym-0.example', port: 29_500, host: 1, hosts: 2 },
    })
    expect(togetherOf({ rendezvous: '[fd00::1]:1', nodes: 2, nodeRank: 0 })).toMatchObject({
      processes: 1,
      rendezvous: { address: 'fd00::1', port: 1 },
    })
  })

  it.each([
    [{ nodes: 2 }, '--nodes needs --rendezvous'],
    [{ nodeRank: 0 }, '--node-rank needs --rendezvous'],
    [{ rendezvous: 'a:1' }, '--rendezvous needs --nodes and --node-rank'],
    [{ rendezvous: 'a:1', nodes: 2, nodeRank: 2 }, '--node-rank is 2, and there are 2 nodes'],
    ...['a', 'a:', ':1', 'a:0', 'a:70000', 'tcp://a:1', 'fd00::1:1'].map(
      (rendezvous): [Parameters<typeof togetherOf>[0], string] => [
        { rendezvous, nodes: 2, nodeRank: 0 },
        `--rendezvous is ${JSON.stringify(rendezvous)}, which is not HOST:PORT`,
      ],
    ),
  ])('refuses %j', (flags, message) => {
    expect(() => togetherOf(flags)).toThrow(message)
  })
})

describe('refuseWithProcesses', () => {
  it.each([
    [{ processes: 2, remote: true }, '--processes and --remote cannot be combined'],
    [{ processes: 2, env: 'gymnasium:CartPole-v1' }, '--env and --processes cannot be combined'],
    [{ rendezvous: 'a:1', seed: [1, 2] }, 'several seeds and --rendezvous cannot be combined'],
  ])('refuses %j', (flags, message) => {
    expect(() => refuseWithProcesses(flags)).toThrow(message)
  })

  it('leaves one process alone', () => {
    refuseWithProcesses({ remote: true })
    refuseWithProcesses({ processes: 1, env: 'gymnasium:CartPole-v1' })
  })
})
