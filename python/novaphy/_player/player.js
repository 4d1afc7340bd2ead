// SPDX-License-Identifier: Apache-2.0
// Plays a recorded rollout: unpacks its numbers, draws them with WebGL 2, and lets a person look around. Z is up.
"use strict";

const scene = JSON.parse(document.getElementById("scene").textContent);
const element = (id) => document.getElementById(id);

function say(text) {
  element("message").textContent = text;
  element("message").hidden = false;
}

async function unpack() {
  const packed = Uint8Array.from(atob(element("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(stream).arrayBuffer();
  const { floats, indices, points } = scene.lengths;
  return {
    floats: new Float32Array(bytes, 0, floats),
    indices: new Uint32Array(bytes, 4 * floats, indices),
    points: new Uint16Array(bytes, 4 * (floats + indices), points),
  };
}

// ---- matrices, column by column as WebGL wants them
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const unit = (a) => { const l = Math.hypot(...a) || 1; return a.map((v) => v / l); };

function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; ++c)
    for (let r = 0; r < 4; ++r)
      for (let k = 0; k < 4; ++k) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}

function lookAt(eye, target) {
  const back = unit(minus(eye, target)), right = unit(cross([0, 0, 1], back)), up = cross(back, right);
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

function poseMatrix(pose) {  // position and quaternion x, y, z, w
  const [px, py, pz, x, y, z, w] = pose;
  return [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, px, py, pz, 1];
}

function boxMatrix() {  // from the 16-bit box to m
  const { low, edge } = scene.bounds;
  return [edge[0], 0, 0, 0, 0, edge[1], 0, 0, 0, 0, edge[2], 0, low[0], low[1], low[2], 1];
}

// ---- drawing
const VERTEX = `#version 300 es
in vec3 position; in float radius;
uniform mat4 place, view, lens; uniform float pixels;
out vec3 seen; out float size;
void main() {
  vec4 p = view * place * vec4(position, 1.0);
  seen = p.xyz; size = radius;
  gl_Position = lens * p;
  gl_PointSize = max(3.0, 2.0 * radius * lens[1][1] * 0.5 * pixels / gl_Position.w);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 seen; in float size;
uniform vec3 color; uniform int kind; uniform float opacity;
out vec4 pixel;
void main() {
  vec3 n = vec3(0.0, 0.0, 1.0);
  if (kind == 0) { n = normalize(cross(dFdx(seen), dFdy(seen))); }
  if (kind == 1) {
    vec2 at = 2.0 * gl_PointCoord - 1.0; float r = dot(at, at);
    if (r > 1.0) discard;
    n = vec3(at.x, -at.y, sqrt(1.0 - r));
  }
  float light = kind == 2 ? 1.0 : 0.45 + 0.55 * abs(dot(n, normalize(vec3(0.35, 0.6, 0.75))));
  pixel = vec4(color * light, opacity);
}`;

function program(gl) {
  const out = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(out, shader);
  }
  gl.linkProgram(out);
  return out;
}

const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);

class Painter {
  constructor(gl, data) {
    this.gl = gl;
    this.data = data;
    this.program = program(gl);
    gl.useProgram(this.program);
    this.at = Object.fromEntries(["place", "view", "lens", "pixels", "color", "kind", "opacity"].map(
      (name) => [name, gl.getUniformLocation(this.program, name)]));
    this.position = gl.getAttribLocation(this.program, "position");
    this.radius = gl.getAttribLocation(this.program, "radius");
    this.buffers = new Map();  // of what stays from frame to frame
    this.passing = [gl.createBuffer(), gl.createBuffer()];
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.grid = this.gridLines();
  }

  kept(target, kind, [start, count]) {
    const key = `${kind} ${start} ${count}`;
    if (!this.buffers.has(key)) {
      const buffer = this.gl.createBuffer();
      this.gl.bindBuffer(target, buffer);
      this.gl.bufferData(target, this.data[kind].subarray(start, start + count), this.gl.STATIC_DRAW);
      this.buffers.set(key, buffer);
    }
    this.gl.bindBuffer(target, this.buffers.get(key));
  }

  set(place, color, kind, opacity = 1) {
    const gl = this.gl;
    gl.uniformMatrix4fv(this.at.place, false, place);
    gl.uniform3fv(this.at.color, color);
    gl.uniform1i(this.at.kind, kind);
    gl.uniform1f(this.at.opacity, opacity);
  }

  bindPoints([start, count]) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.passing[0]);
    gl.bufferData(gl.ARRAY_BUFFER, this.data.points.subarray(start, start + count), gl.STREAM_DRAW);
    gl.enableVertexAttribArray(this.position);
    gl.vertexAttribPointer(this.position, 3, gl.UNSIGNED_SHORT, true, 0, 0);
  }

  object(object, frame, opacity = 1) {
    const row = object.frames[frame];
    if (!row) return;
    const gl = this.gl;
    this.bindPoints(row.points);
    gl.disableVertexAttribArray(this.radius);
    gl.vertexAttrib1f(this.radius, 0);
    if (object.kind === "points") {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.passing[1]);
      gl.bufferData(gl.ARRAY_BUFFER, this.data.floats.subarray(row.radii[0], row.radii[0] + row.radii[1]), gl.STREAM_DRAW);
      gl.enableVertexAttribArray(this.radius);
      gl.vertexAttribPointer(this.radius, 1, gl.FLOAT, false, 0, 0);
      this.set(boxMatrix(), rgb(row.color), 1, opacity);
      gl.drawArrays(gl.POINTS, 0, row.points[1] / 3);
      return;
    }
    this.kept(gl.ELEMENT_ARRAY_BUFFER, "indices", row.indices);
    this.set(boxMatrix(), rgb(row.color), object.kind === "mesh" ? 0 : 2, opacity);
    gl.drawElements(object.kind === "mesh" ? gl.TRIANGLES : gl.LINES, row.indices[1], gl.UNSIGNED_INT, 0);
  }

  earlier(object, frame) {  // a trajectory stays once it was shown
    const shown = new Set(object.frames[frame] ? [object.frames[frame].points[0]] : []);
    for (let k = frame - 1; k >= 0; --k) {
      const row = object.frames[k];
      if (!row || shown.has(row.points[0])) continue;
      this.object(object, k, shown.size ? 0.3 : 1);  // what is newest stays bright
      shown.add(row.points[0]);
    }
  }

  solid(object, frame) {
    const pose = object.poses[frame];
    if (!pose) return;
    const gl = this.gl;
    this.kept(gl.ARRAY_BUFFER, "floats", object.vertices);
    gl.enableVertexAttribArray(this.position);
    gl.vertexAttribPointer(this.position, 3, gl.FLOAT, false, 0, 0);
    gl.disableVertexAttribArray(this.radius);
    this.kept(gl.ELEMENT_ARRAY_BUFFER, "indices", object.indices);
    const matrix = poseMatrix(this.data.floats.subarray(pose[0], pose[0] + 7));
    this.set(matrix, rgb(object.color), 0, object.opacity);
    gl.drawElements(gl.TRIANGLES, object.indices[1], gl.UNSIGNED_INT, 0);
  }

  gridLines() {
    const { low, edge } = scene.focus, size = Math.max(...edge);
    const step = 10 ** Math.floor(Math.log10(size / 2)), lines = [];
    const middle = [low[0] + edge[0] / 2, low[1] + edge[1] / 2].map((v) => Math.round(v / step) * step);
    const half = Math.ceil(1.2 * size / step) * step;
    for (let i = -half; i <= half + step / 2; i += step)
      lines.push(middle[0] + i, middle[1] - half, 0, middle[0] + i, middle[1] + half, 0,
        middle[0] - half, middle[1] + i, 0, middle[0] + half, middle[1] + i, 0);
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, new Float32Array(lines), this.gl.STATIC_DRAW);
    return { buffer, count: lines.length / 3 };
  }

  drawGrid() {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.grid.buffer);
    gl.enableVertexAttribArray(this.position);
    gl.vertexAttribPointer(this.position, 3, gl.FLOAT, false, 0, 0);
    gl.disableVertexAttribArray(this.radius);
    this.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], [0.5, 0.54, 0.6], 2, 0.35);
    gl.drawArrays(gl.LINES, 0, this.grid.count);
  }

  draw(frame, camera) {
    const gl = this.gl, canvas = gl.canvas, ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    gl.viewport(0, 0, canvas.width, canvas.height);
    const paper = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
    gl.clearColor(paper[0] / 255, paper[1] / 255, paper[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const d = camera.distance;
    gl.uniformMatrix4fv(this.at.view, false, lookAt(camera.eye(), camera.target));
    gl.uniformMatrix4fv(this.at.lens, false, perspective(0.8, canvas.width / canvas.height, 0.01 * d, 100 * d));
    gl.uniform1f(this.at.pixels, canvas.height);
    this.drawGrid();
    for (const object of scene.objects) {
      if (object.kind === "solid") continue;
      if (object.keep) this.earlier(object, frame);
      this.object(object, frame);
    }
    const solids = scene.objects.filter((object) => object.kind === "solid");
    for (const solid of solids) if (solid.opacity === 1) this.solid(solid, frame);
    gl.depthMask(false);  // what is seen through hides nothing
    for (const solid of solids) if (solid.opacity < 1) this.solid(solid, frame);
    gl.depthMask(true);
  }
}

// ---- the camera goes around a target
class Camera {
  constructor() { this.home(); }

  home() {
    const { low, edge } = scene.focus;
    this.target = low.map((v, k) => v + edge[k] / 2);
    this.distance = 1.3 * Math.hypot(...edge);
    this.yaw = -0.9;
    this.pitch = 0.35;
    if (!scene.camera) return;
    const { pos, pitch, yaw } = scene.camera, degree = Math.PI / 180;
    if (pitch !== null && yaw !== null) {  // the direction of sight is the opposite of where the eye lies
      this.pitch = -pitch * degree;
      this.yaw = yaw * degree + Math.PI;
      this.distance = Math.hypot(...minus(pos, this.target));
      this.target = minus(pos, this.direction().map((v) => v * this.distance));
    } else {
      const from = minus(pos, this.target);
      this.distance = Math.hypot(...from);
      this.pitch = Math.asin(from[2] / this.distance);
      this.yaw = Math.atan2(from[1], from[0]);
    }
  }

  direction() {
    return [Math.cos(this.pitch) * Math.cos(this.yaw), Math.cos(this.pitch) * Math.sin(this.yaw), Math.sin(this.pitch)];
  }

  eye() { return this.direction().map((v, k) => this.target[k] + v * this.distance); }

  turn(dx, dy) {
    this.yaw -= 0.008 * dx;
    this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + 0.008 * dy));
  }

  move(dx, dy, height) {
    const back = this.direction(), right = unit(cross([0, 0, 1], back)), up = cross(back, right);
    const scale = 2 * Math.tan(0.4) * this.distance / height;
    this.target = this.target.map((v, k) => v + scale * (-dx * right[k] + dy * up[k]));
  }

  zoom(steps) { this.distance *= 1.0015 ** steps; }
}

function listen(canvas, camera, redraw) {
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); pointers.set(e.pointerId, e); });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => pointers.delete(e.pointerId));
  canvas.addEventListener("pointermove", (e) => {
    const before = pointers.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    if (pointers.size === 2) {  // two fingers zoom
      const other = [...pointers.values()].find((p) => p.pointerId !== e.pointerId);
      const span = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY) || 1;
      camera.distance *= span(before) / span(e);
    } else if (e.buttons & 2 || e.shiftKey) camera.move(dx, dy, canvas.clientHeight);
    else camera.turn(dx, dy);
    pointers.set(e.pointerId, e);
    redraw();
  });
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); camera.zoom(e.deltaY); redraw(); }, { passive: false });
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
}

// ---- scalars over time
function drawPlot(frame) {
  const names = Object.keys(scene.scalars), canvas = element("plot");
  if (!names.length) return;
  canvas.hidden = false;
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = w * ratio;
  canvas.height = h * ratio;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.body);
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  const each = h / names.length, last = Math.max(scene.times.length - 1, 1);
  names.forEach((name, n) => {
    const rows = scene.scalars[name], values = rows.map((row) => row[1]).filter((v) => v !== null);
    const low = Math.min(...values), high = Math.max(...values), top = n * each + 18, height = each - 26;
    const x = (k) => 6 + (w - 12) * k / last, y = (v) => top + height * (1 - (v - low) / (high - low || 1));
    pen.strokeStyle = "#d1495b";
    pen.lineWidth = 1.6;
    pen.beginPath();
    let drawing = false;
    for (const [k, v] of rows) {  // null where the number was not finite
      if (v !== null) { if (drawing) pen.lineTo(x(k), y(v)); else pen.moveTo(x(k), y(v)); }
      drawing = v !== null;
    }
    pen.stroke();
    const now = rows.filter((row) => row[0] <= frame).pop();
    pen.fillStyle = style.color;
    pen.fillText(!now ? name : `${name}  ${now[1] === null ? "not finite" : now[1].toPrecision(4)}`, 6, top - 6);
    if (now && now[1] !== null) { pen.beginPath(); pen.arc(x(now[0]), y(now[1]), 3, 0, 7); pen.fill(); }
  });
}

async function main() {
  const gl = element("view").getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
  if (!gl)
    return say("This browser offers no WebGL 2, which drawing the rollout needs; another browser, or hardware " +
      "acceleration in its settings, will show it.");
  if (typeof DecompressionStream === "undefined")
    return say("This browser is too old to unpack the rollout (it has no DecompressionStream); one from 2023 or " +
      "later will show it.");
  const painter = new Painter(gl, await unpack()), camera = new Camera();
  const frames = scene.times.length, slider = element("slider");
  let frame = 0, playing = false, clock = 0, asked = false;

  const draw = () => {
    asked = false;
    painter.draw(frame, camera);
    drawPlot(frame);
    slider.value = frame;
    element("label").textContent = frames ? `frame ${frame} of ${frames - 1}   ${scene.times[frame].toFixed(3)} s` : "no frame was recorded";
    document.body.dataset.drawn = frame;
  };
  const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
  const show = (k) => { frame = Math.max(0, Math.min(frames - 1, k)); redraw(); };
  const play = (on) => {
    playing = on && frames > 1;
    element("play").textContent = playing ? "⏸" : "▶";
    if (!playing) return;
    if (frame === frames - 1) frame = 0;
    clock = performance.now() - 1000 * frame / (scene.fps * Number(element("speed").value));
    requestAnimationFrame(tick);
  };
  const tick = (now) => {
    if (!playing) return;
    const next = Math.floor((now - clock) / 1000 * scene.fps * Number(element("speed").value));
    if (next >= frames) { frame = frames - 1; play(false); } else frame = Math.max(next, 0);
    draw();
    if (playing) requestAnimationFrame(tick);
  };

  slider.max = Math.max(frames - 1, 0);
  slider.addEventListener("input", () => { play(false); show(Number(slider.value)); });
  element("play").addEventListener("click", () => play(!playing));
  element("speed").addEventListener("change", () => { if (playing) play(true); });
  element("home").addEventListener("click", () => { camera.home(); redraw(); });
  element("about").addEventListener("click", () => { element("origin").hidden = !element("origin").hidden; });
  element("origin").textContent = JSON.stringify(scene.provenance, null, 2);
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("keydown", (e) => {
    if (["BUTTON", "INPUT", "SELECT"].includes(e.target.tagName)) return;  // they have keys of their own
    if (e.key === " ") { e.preventDefault(); play(!playing); }
    if (e.key === "ArrowRight") { play(false); show(frame + 1); }
    if (e.key === "ArrowLeft") { play(false); show(frame - 1); }
  });
  listen(element("view"), camera, redraw);
  const wanted = new URLSearchParams(location.hash.slice(1)).get("frame");  // file.html#frame=120
  if (wanted !== null) show(Number(wanted)); else { draw(); play(true); }
}

main().catch((error) => say(`The rollout cannot be shown: ${error.message}`));
