// A very small WebGL renderer for the games in three dimensions: lit boxes and balls under one camera.
"use strict";

const solids = (() => {
  const VERTEX = `
    attribute vec3 corner, normal;
    uniform mat4 view;
    uniform vec3 place, size;
    varying vec3 facing;
    void main() { facing = normal; gl_Position = view * vec4(corner * size + place, 1.0); }`;
  const FRAGMENT = `
    precision mediump float;
    varying vec3 facing;
    uniform vec3 colour;
    void main() {
      float light = 0.62 + 0.38 * max(dot(normalize(facing), normalize(vec3(0.45, 0.9, 0.35))), 0.0);
      gl_FragColor = vec4(colour * light, 1.0);
    }`;

  function box() {
    const corners = [], normals = [];
    for (const axis of [0, 1, 2]) {
      for (const side of [-0.5, 0.5]) {
        const square = [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].map(([u, v]) => {
          const corner = [0, 0, 0];
          corner[axis] = side;
          corner[(axis + 1) % 3] = u / 2;
          corner[(axis + 2) % 3] = v / 2;
          return corner;
        });
        const normal = [0, 0, 0];
        normal[axis] = Math.sign(side);
        for (const corner of square) {
          corners.push(...corner);
          normals.push(...normal);
        }
      }
    }
    return { corners, normals };
  }

  function ball(slices = 20) {
    const corners = [];
    const at = (i, j) => {
      const up = Math.PI * (i / slices - 0.5), turn = (2 * Math.PI * j) / slices;
      return [Math.cos(up) * Math.cos(turn) / 2, Math.sin(up) / 2, Math.cos(up) * Math.sin(turn) / 2];
    };
    for (let i = 0; i < slices; i++) {
      for (let j = 0; j < slices; j++) {
        for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]) corners.push(...at(i + a, j + b));
      }
    }
    return { corners, normals: corners };
  }

  function shader(gl, kind, source) {
    const made = gl.createShader(kind);
    gl.shaderSource(made, source);
    gl.compileShader(made);
    return made;
  }

  // The matrix of a camera at `eye` that looks at `at`, column by column as WebGL takes it.
  function camera(eye, at, aspect, angle = 0.7) {
    const minus = (a, b) => a.map((one, i) => one - b[i]), dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const unit = (a) => a.map((one) => one / Math.hypot(...a));
    const z = unit(minus(eye, at)), x = unit(cross([0, 1, 0], z)), y = cross(z, x);
    const far = 100, near = 0.1, f = 1 / Math.tan(angle / 2), deep = (far + near) / (near - far);
    const rows = [[...x, -dot(x, eye)], [...y, -dot(y, eye)], [...z, -dot(z, eye)]];
    const turned = [rows[0].map((one) => (one * f) / aspect), rows[1].map((one) => one * f),
      rows[2].map((one, i) => one * deep + (i === 3 ? (2 * far * near) / (near - far) : 0)), rows[2].map((one) => -one)];
    return [0, 1, 2, 3].flatMap((column) => turned.map((row) => row[column]));
  }

  // A stage that draws in the next frame after `again()`; `draw` is given `solid(kind, place, size, colour)` and `look`.
  function scene(draw) {
    const element = document.createElement("canvas");
    element.width = game.stage.clientWidth;
    element.height = game.stage.clientHeight;
    game.stage.replaceChildren(element);
    const gl = element.getContext("webgl", { antialias: false, preserveDrawingBuffer: true });
    const program = gl.createProgram();
    gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    const buffer = (numbers) => {
      const made = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, made);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
      return made;
    };
    const shapes = Object.fromEntries(Object.entries({ box: box(), ball: ball() }).map(([name, { corners, normals }]) =>
      [name, { corners: buffer(corners), normals: buffer(normals), count: corners.length / 3 }]));
    const uniform = (name) => gl.getUniformLocation(program, name);
    const at = { view: uniform("view"), place: uniform("place"), size: uniform("size"), colour: uniform("colour") };

    function solid(kind, place, size, colour) {
      const shape = shapes[kind];
      for (const [name, numbers] of [["corner", shape.corners], ["normal", shape.normals]]) {
        const attribute = gl.getAttribLocation(program, name);
        gl.bindBuffer(gl.ARRAY_BUFFER, numbers);
        gl.enableVertexAttribArray(attribute);
        gl.vertexAttribPointer(attribute, 3, gl.FLOAT, false, 0, 0);
      }
      gl.uniform3fv(at.place, place);
      gl.uniform3fv(at.size, size);
      gl.uniform3fv(at.colour, colour);
      gl.drawArrays(gl.TRIANGLES, 0, shape.count);
    }

    const look = (eye, target) => gl.uniformMatrix4fv(at.view, false, camera(eye, target, element.width / element.height));
    let wanted = false;
    return function again() {
      if (wanted) return;
      wanted = true;
      requestAnimationFrame(() => {
        wanted = false;
        gl.viewport(0, 0, element.width, element.height);
        gl.clearColor(0, 0, 0, 0); // the page's paper shows
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        draw(solid, look);
      });
    };
  }

  return { scene };
})();
