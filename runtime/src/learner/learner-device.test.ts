import { expect, it } from 'vitest'
import { CPU, type Cuda, deviceNumber, requireDevice } from './learner-device.ts'

it.each([
  ['cpu', CPU],
  ['cuda', 0],
  ['cuda:0', 0],
  ['cuda:11', 11],
])('%s is device %i', (device, number) => {
  expect(deviceNumber(device)).toBe(number)
})

const none: Cuda = { libtorch: '1.13.1', built: false, devices: 0 }

it.each<[string, Cuda, string, string]>([
  ['cuda', none, 'built with libtorch 1.13.1, which has no CUDA', 'pip install torch'],
  ['cuda', { ...none, built: true }, 'finds no GPU', 'nvidia-smi'],
  ['cuda:1', { ...none, built: true, devices: 1 }, 'finds 1 GPU on', 'cuda is the first'],
  ['cuda:9', { ...none, built: true, devices: 8 }, 'finds 8 GPUs', 'cuda is the first'],
])('%s is refused with what is missing and how to mend it', (device, cuda, reason, hint) => {
  expect(() => requireDevice(device, cuda)).toThrow(
    expect.objectContaining({
      code: 'execution_provider_unavailable',
      message: expect.stringMatching(`learner_device is ${device}.*${reason}`),
      hint: expect.stringContaining(hint),
      data: expect.objectContaining({ field: 'learner_device' }),
    }),
  )
})

it('accepts a GPU that is there', () => {
  requireDevice('cuda:1', { libtorch: '2.9.1', built: true, devices: 2 })
})
