// The types of terrarium.mjs.
export interface ClusterSettings {
  name?: string;
  clock?: string;
  seed?: number;
  nodes?: number;
  featureGates?: Record<string, boolean>;
  controllerManagerFeatureGates?: Record<string, boolean>;
  kubeletFeatureGates?: Record<string, boolean>;
  controllers?: string;
  kubelet?: boolean;
  scheduler?: boolean;
  podDefaults?: Record<string, string | number | boolean>;
  eventTtl?: string;
  enableAdmissionPlugins?: string;
  disableAdmissionPlugins?: string;
  data?: string;
}

export interface ServerOptions extends Omit<ClusterSettings, 'name'> {
  binary?: string;
  flags?: string[];
  /** milliseconds */
  startTimeout?: number;
}

export interface Clock {
  mode: string;
  now: string;
  idle: boolean;
  nextTimer?: string;
  nextWorkTimer?: string;
}

export interface Move {
  outcome: 'done' | 'idle' | 'deadline' | 'no-timer' | 'stopped' | 'busy';
  now: string;
  advanced: string;
  timersFired: number;
  revision?: number;
}

export interface WhyRecord {
  time: string;
  revision: number;
  controller: string;
  action: 'create' | 'delete' | 'scale';
  resource: string;
  namespace?: string;
  name: string;
  owner?: { resource: string; namespace: string; name: string };
  rule: string;
  saw?: Record<string, unknown>;
}

export type Component = 'apiserver' | 'controller-manager' | 'scheduler' | 'kubelet';
/** "90s", or milliseconds */
export type Duration = string | number;

export class TerrariumError extends Error {}
export class ControlError extends TerrariumError {
  code: number;
  reason: string;
}

export class ControlPlane {
  readonly url: string;
  readonly kubeconfig: string;
  call(method: string, path: string, body?: unknown): Promise<any>;
  clock(): Promise<Clock>;
  setClock(mode: string): Promise<Clock>;
  advance(duration: Duration): Promise<Move>;
  settle(): Promise<Move>;
  runUntilIdle(limit?: Duration): Promise<Move>;
  runUntil(
    resource: string,
    name: string,
    condition: string,
    options?: { namespace?: string | null; limit?: Duration },
  ): Promise<Move>;
  addRule(rule: {
    name: string;
    script: Record<string, unknown>;
    selector?: string;
    namespace?: string;
  }): Promise<unknown>;
  deleteRule(name: string): Promise<unknown>;
  holdPod(pod: string, point: 'ready' | 'terminating', namespace?: string): Promise<unknown>;
  releasePod(
    pod: string,
    options?: { namespace?: string; point?: string; outcome?: Record<string, unknown> },
  ): Promise<unknown>;
  crashContainer(pod: string, container: string, options?: { exitCode?: number; namespace?: string }): Promise<unknown>;
  failPod(pod: string, options?: { exitCode?: number; namespace?: string }): Promise<unknown>;
  evictPod(pod: string, namespace?: string): Promise<unknown>;
  failNode(name: string): Promise<unknown>;
  recoverNode(name: string): Promise<unknown>;
  featureGates(component: Component): Promise<Record<string, boolean>>;
  setFeatureGates(component: Component, gates: Record<string, boolean>): Promise<unknown>;
  stopComponent(name: Component): Promise<unknown>;
  startComponent(name: Component): Promise<unknown>;
  restartComponent(name: Component): Promise<unknown>;
  crashComponent(name: Component): Promise<unknown>;
  why(resource?: string, name?: string, namespace?: string): Promise<WhyRecord[]>;
  compact(): Promise<unknown>;
}

export class Cluster extends ControlPlane {
  readonly name: string;
  readonly seed: number;
  delete(): Promise<void>;
}

interface TestContext {
  after(hook: () => unknown): void;
}

export class Server extends ControlPlane {
  readonly pid: number;
  cluster(settings?: ClusterSettings): Promise<Cluster>;
  cluster(t: TestContext, settings?: ClusterSettings): Promise<Cluster>;
  clusters(): Promise<string[]>;
  log(): string;
  stop(): Promise<void>;
}

export function start(options?: ServerOptions): Promise<Server>;
