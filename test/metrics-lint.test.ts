import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { app, parse, plain } from './harness/metrics.ts';

/** The rules of `promtool check metrics`, which is asked too if it is installed. */

const UNITS = 'seconds|bytes|meters|metres|grams|joules|volts|amperes|celsius|kelvins';
const PREFIXES = 'pico|nano|micro|milli|centi|deci|deca|hecto|kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|pebi';
const NOT_BASE_UNIT = new RegExp(`^(?:(?:${PREFIXES})(?:${UNITS})|minutes|hours|days|weeks)$`);
const ABBREVIATIONS = new Set('s ms us ns sec b kb mb gb tb pb m h d'.split(' '));
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary']);

type Metric = { help: string; type: string; labels: Set<string> };

function faultsOf(name: string, { help, type, labels }: Metric): string[] {
  const words = name.split('_');
  const rules: [boolean, string][] = [
    [help !== '', 'has no help'],
    [(type === 'counter') === name.endsWith('_total'), 'must end in _total if and only if it is a counter'],
    [type === 'histogram' || !labels.has('le'), 'has the label le'],
    [type === 'summary' || !labels.has('quantile'), 'has the label quantile'],
    [!/_(?:bucket|count|sum|info)$/.test(name) || name.endsWith('_info'), 'ends like a part of a histogram'],
    [!words.some((word) => TYPES.has(word)), 'has its type in the name'],
    [!words.some((word) => NOT_BASE_UNIT.test(word)), 'is not in a base unit'],
    [!words.some((word) => ABBREVIATIONS.has(word)), 'abbreviates a unit'],
    [[name, ...labels].every((word) => /^[a-z][a-z0-9_]*$/.test(word)), 'is not in snake_case'],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => `${name} ${fault}`);
}

function metricsOf(page: string): Map<string, Metric> {
  const metrics = new Map<string, Metric>();
  for (const [, name = '', help = ''] of page.matchAll(/^# HELP (\S+) ?(.*)$/gm)) {
    assert.ok(!metrics.has(name), `${name} is there twice`);
    metrics.set(name, { help, type: 'untyped', labels: new Set() });
  }
  for (const [, name = '', type = ''] of page.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const metric = metrics.get(name) ?? assert.fail(`${name} has no help`);
    metric.type = type;
  }
  for (const { name, labels } of parse(page)) {
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ''));
    for (const label of Object.keys(labels)) metric?.labels.add(label);
  }
  return metrics;
}

test("the names, types and labels of /metrics follow the rules of Prometheus' linter", async () => {
  const company = await app.company();
  await company.get(`${company.path}/interactions`);
  const page = (await plain('/metrics')).text;
  const metrics = metricsOf(page);
  assert.ok(metrics.size > 20);
  assert.deepEqual(
    [...metrics].flatMap(([name, metric]) => faultsOf(name, metric)),
    [],
  );
  const promtool = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'ignore', 'pipe'] });
  const started = once(promtool, 'spawn').then(
    () => true,
    () => false,
  );
  if (!(await started)) return;
  promtool.stdin.end(page);
  const [said, [code]] = await Promise.all([text(promtool.stderr), once(promtool, 'exit')]);
  assert.deepEqual([code, said], [0, '']);
});
